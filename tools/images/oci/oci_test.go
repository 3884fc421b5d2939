package oci_test

import (
	"archive/tar"
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/types"

	"github.com/flotilla-k8s/flotilla/tools/images/oci"
)

var amd64 = oci.Platforms()[0]

func files() []oci.File {
	return append(oci.BaseFiles(),
		oci.File{Path: "/program", Mode: 0o755, Content: []byte("binary")},
		oci.File{Path: "/bin/sh", Mode: 0o777, Link: "/program"},
	)
}

func TestImageIsReproducible(t *testing.T) {
	config := oci.Config{User: oci.NonRoot, Entrypoint: []string{"/program"}, Labels: map[string]string{"a": "1", "b": "2", "c": "3"}}
	first := digest(t, image(t, config, files()))
	reversed := files()
	slices.Reverse(reversed)
	if again := digest(t, image(t, config, reversed)); again != first {
		t.Errorf("digest with files in another order is %s, not %s", again, first)
	}
	changed := files()
	changed[3].Content = []byte("other")
	if other := digest(t, image(t, config, changed)); other == first {
		t.Error("another program has the same digest")
	}
}

func TestImageConfig(t *testing.T) {
	img := image(t, oci.Config{User: oci.NonRoot, Entrypoint: []string{"/program"}, Env: []string{"A=b"}}, files())
	file, err := img.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	want := v1.Config{
		User:       "65532:65532",
		Entrypoint: []string{"/program"},
		Env:        []string{"PATH=/usr/local/bin:/usr/bin:/bin", "A=b"},
		WorkingDir: "/",
	}
	if diff := cmp.Diff(want, file.Config); diff != "" {
		t.Errorf("config (-want +have):\n%s", diff)
	}
	if p := file.Platform(); !p.Equals(amd64) {
		t.Errorf("platform is %s, not %s", p, amd64)
	}
	if file.Created.Unix() != 0 {
		t.Errorf("created is %s, not the epoch", file.Created)
	}
}

func TestImageLayer(t *testing.T) {
	want := []string{
		"drwxr-xr-x bin/",
		"Lrwxrwxrwx bin/sh -> /program",
		"drwxr-xr-x etc/",
		"-rw-r--r-- etc/group",
		"-rw-r--r-- etc/passwd",
		"-rwxr-xr-x program",
		"dtrwxrwxrwx tmp/",
	}
	if diff := cmp.Diff(want, list(t, image(t, oci.Config{}, files()))); diff != "" {
		t.Errorf("layer (-want +have):\n%s", diff)
	}
}

func TestImageRefusesBadPaths(t *testing.T) {
	cases := map[string][]oci.File{
		"a relative path":    {{Path: "etc/passwd"}},
		"a path with dots":   {{Path: "/etc/../passwd"}},
		"the root":           {{Path: "/"}},
		"a path given twice": {{Path: "/a"}, {Path: "/a"}},
		"a path below a file": {
			{Path: "/a", Content: []byte("file")},
			{Path: "/a/b"},
		},
	}
	for name, bad := range cases {
		t.Run(name, func(t *testing.T) {
			if _, err := oci.Image(amd64, oci.Config{}, bad); err == nil {
				t.Error("there is no error")
			}
		})
	}
}

func TestIndexNamesEachPlatform(t *testing.T) {
	var images []v1.Image
	for _, p := range oci.Platforms() {
		img, err := oci.Image(p, oci.Config{}, files())
		if err != nil {
			t.Fatal(err)
		}
		images = append(images, img)
	}
	index, err := oci.Index(images)
	if err != nil {
		t.Fatal(err)
	}
	manifest, err := index.IndexManifest()
	if err != nil {
		t.Fatal(err)
	}
	if manifest.MediaType != types.OCIImageIndex {
		t.Errorf("media type is %s", manifest.MediaType)
	}
	var have []string
	for _, m := range manifest.Manifests {
		have = append(have, m.Platform.String())
	}
	if diff := cmp.Diff([]string{"linux/amd64", "linux/arm64"}, have); diff != "" {
		t.Errorf("platforms (-want +have):\n%s", diff)
	}
}

func TestCheckStatic(t *testing.T) {
	arm64 := oci.Platforms()[1]
	cases := []struct {
		name     string
		binary   []byte
		platform v1.Platform
		want     string // in the error; empty for none
	}{
		{"a static program", program(t, elf.EM_X86_64, elf.PT_LOAD), amd64, ""},
		{"a static program for arm64", program(t, elf.EM_AARCH64, elf.PT_LOAD), arm64, ""},
		{"a program for another architecture", program(t, elf.EM_AARCH64, elf.PT_LOAD), amd64, "program is for EM_AARCH64"},
		{"a dynamic program", program(t, elf.EM_X86_64, elf.PT_INTERP), amd64, "dynamically linked"},
		{"a script", []byte("#!/bin/sh\n"), amd64, "reading ELF header"},
		{"a platform without images", nil, v1.Platform{OS: "windows", Architecture: "amd64"}, "platform windows/amd64"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			err := oci.CheckStatic(c.binary, c.platform)
			if c.want == "" && err != nil {
				t.Errorf("error is %v", err)
			}
			if c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("error is %v, want one with %q", err, c.want)
			}
		})
	}
}

// program returns an ELF file of nothing but its header and one segment.
func program(t *testing.T, machine elf.Machine, segment elf.ProgType) []byte {
	t.Helper()
	h := elf.Header64{
		Type: uint16(elf.ET_EXEC), Machine: uint16(machine), Version: uint32(elf.EV_CURRENT),
		Phoff: 64, Ehsize: 64, Phentsize: 56, Phnum: 1,
	}
	copy(h.Ident[:], elf.ELFMAG)
	h.Ident[elf.EI_CLASS], h.Ident[elf.EI_DATA], h.Ident[elf.EI_VERSION] = byte(elf.ELFCLASS64), byte(elf.ELFDATA2LSB), byte(elf.EV_CURRENT)
	var buf bytes.Buffer
	err := errors.Join(
		binary.Write(&buf, binary.LittleEndian, h),
		binary.Write(&buf, binary.LittleEndian, elf.Prog64{Type: uint32(segment)}),
	)
	if err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

func image(t *testing.T, config oci.Config, files []oci.File) v1.Image {
	t.Helper()
	img, err := oci.Image(amd64, config, files)
	if err != nil {
		t.Fatal(err)
	}
	return img
}

func digest(t *testing.T, img v1.Image) v1.Hash {
	t.Helper()
	d, err := img.Digest()
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// list returns one line for each entry of the only layer of img and checks that all are root's and
// of no particular time.
func list(t *testing.T, img v1.Image) []string {
	t.Helper()
	layers, err := img.Layers()
	if err != nil || len(layers) != 1 {
		t.Fatalf("image has %d layers, want 1 (error %v)", len(layers), err)
	}
	content, err := layers[0].Uncompressed()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = content.Close() })
	var lines []string
	for r := tar.NewReader(content); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return lines
		}
		if err != nil {
			t.Fatal(err)
		}
		if h.Uid != 0 || h.Gid != 0 || h.Uname != "" || h.ModTime.Unix() != 0 {
			t.Errorf("%s belongs to %d:%d (%q) at %s", h.Name, h.Uid, h.Gid, h.Uname, h.ModTime)
		}
		line := h.FileInfo().Mode().String() + " " + h.Name
		if h.Linkname != "" {
			line += " -> " + h.Linkname
		}
		lines = append(lines, line)
	}
}
