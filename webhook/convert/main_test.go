package convert_test

import (
	"flag"
	"os"
	"testing"

	"github.com/flotilla-k8s/flotilla/shared/testenv"
)

// server has no CRDs of its own: the tests install them, the way a user does.
var server = testenv.New()

func TestMain(m *testing.M) {
	flag.Bool("update", false, "rewrite the golden files")
	flag.Parse()
	os.Exit(server.Main(m))
}

func update() bool { return flag.Lookup("update").Value.String() == "true" }
