module github.com/flotilla-k8s/flotilla/operators/distribution

go 1.26.0
