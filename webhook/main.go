// Command webhook serves admission and conversion for the enabled families.
package main

import (
	"os"

	"github.com/flotilla-k8s/flotilla/webhook/server"
)

func main() {
	os.Exit(server.Main())
}
