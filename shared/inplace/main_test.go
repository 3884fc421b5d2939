package inplace_test

import (
	"os"
	"testing"

	"github.com/flotilla-k8s/flotilla/shared/testenv"
)

var server = testenv.New()

func TestMain(m *testing.M) { os.Exit(server.Main(m)) }
