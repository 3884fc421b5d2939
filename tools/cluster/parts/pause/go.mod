module github.com/flotilla-k8s/flotilla/tools/cluster/parts/pause

go 1.26.0
