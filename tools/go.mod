module github.com/flotilla-k8s/flotilla/tools

go 1.26.0
