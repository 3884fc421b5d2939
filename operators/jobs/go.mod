module github.com/flotilla-k8s/flotilla/operators/jobs

go 1.26.0
