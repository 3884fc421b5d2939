// Command daemon is the agent of one node: it tells the in-place update engine what the container
// runtime really runs.
package main

import (
	"os"

	"github.com/flotilla-k8s/flotilla/daemon/node"
)

func main() {
	os.Exit(node.Main())
}
