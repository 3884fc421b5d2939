// Command webhook serves admission and conversion for the enabled families.
package main

import (
	"os"

	"github.com/flotilla-k8s/flotilla/webhook/server"
)

// version is set by the linker.
var version string

func main() {
	os.Exit(server.Main(version))
}
