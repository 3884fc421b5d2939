package server_test

import (
	"flag"
	"os"
	"testing"

	"github.com/flotilla-k8s/flotilla/shared/testenv"
)

var apiServer = testenv.New("deploy/crds/workloads")

func TestMain(m *testing.M) {
	flag.Bool("update", false, "rewrite the golden files")
	flag.Parse()
	os.Exit(apiServer.Main(m))
}
