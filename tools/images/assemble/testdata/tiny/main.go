// Command tiny prints the version it was linked with.
package main

import "os"

var version string

func main() {
	_, _ = os.Stdout.WriteString(version)
}
