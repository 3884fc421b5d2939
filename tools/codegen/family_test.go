package main

import (
	"os"
	"path/filepath"
	"testing"
)

func TestByFamilyOpen(t *testing.T) {
	dir := t.TempDir()
	out := byFamily{dir: dir}

	t.Run("a known kind goes to the folder of its family", func(t *testing.T) {
		f, err := out.Open(nil, "apps.kruise.io_clonesets.yaml")
		if err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(filepath.Join(dir, "workloads", "apps.kruise.io_clonesets.yaml")); err != nil {
			t.Error(err)
		}
	})

	t.Run("a kind without a family is an error, not a stray file", func(t *testing.T) {
		if f, err := out.Open(nil, "apps.kruise.io_novelties.yaml"); err == nil {
			_ = f.Close()
			t.Error("no error for a resource that is in no family")
		}
	})
}
