module github.com/flotilla-k8s/flotilla/operators/image

go 1.26.0
