module github.com/flotilla-k8s/flotilla/operators/policy

go 1.26.0
