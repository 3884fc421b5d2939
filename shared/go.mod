module github.com/flotilla-k8s/flotilla/shared

go 1.26.0
