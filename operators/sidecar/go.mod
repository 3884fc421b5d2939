module github.com/flotilla-k8s/flotilla/operators/sidecar

go 1.26.0
