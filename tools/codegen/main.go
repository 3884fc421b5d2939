// Command codegen writes every generated file that belongs to the API types: the deep copies beside
// the types in shared/api, and the CustomResourceDefinitions in deploy/crds, sorted by family.
//
// It is a module of its own so that the versions its generators need are nobody else's business.
// Run it from the root of the repository:
//
//	GOWORK=off go run -C tools/codegen .
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/tools/go/packages"
	"sigs.k8s.io/controller-tools/pkg/crd"
	"sigs.k8s.io/controller-tools/pkg/deepcopy"
	"sigs.k8s.io/controller-tools/pkg/genall"
)

func main() {
	root := flag.String("root", filepath.Join("..", ".."), "root of the repository")
	flag.Parse()
	if err := generate(*root, filepath.Join(*root, "deploy", "crds")); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// generate reads the types of the repository at root and writes their deep copies beside them and
// their CRDs below crdDir.
func generate(root, crdDir string) error {
	omitVersion := true
	copies := genall.Generator(deepcopy.Generator{})
	crds := genall.Generator(crd.Generator{OmitToolVersion: &omitVersion})

	run, err := genall.Generators{&copies, &crds}.ForRootsWithConfig(
		&packages.Config{Dir: filepath.Join(root, "shared")}, "./api/...")
	if err != nil {
		return fmt.Errorf("loading API types: %w", err)
	}
	run.OutputRules = genall.OutputRules{
		Default: genall.OutputArtifacts{},
		ByGenerator: map[*genall.Generator]genall.OutputRule{
			&crds: byFamily{dir: crdDir},
		},
	}
	if failed := run.Run(); failed {
		return errors.New("generating: see the messages above")
	}
	return nil
}
