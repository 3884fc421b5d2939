module github.com/flotilla-k8s/flotilla/operators/workloads

go 1.26.0

require github.com/flotilla-k8s/flotilla/shared v0.0.0

replace github.com/flotilla-k8s/flotilla/shared => ../../shared
