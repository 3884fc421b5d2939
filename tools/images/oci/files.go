package oci

import (
	"bytes"
	"debug/elf"
	"fmt"
	"io/fs"
	"slices"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// NonRoot and Root are the two users an image can run as.
const (
	NonRoot = "65532:65532"
	Root    = "0:0"
)

// BaseFiles are in every image: the two users and a /tmp that anybody may write. There are no CA
// certificates: what runs in these images speaks to the API server, whose CA comes with the
// service account, and to unix sockets.
func BaseFiles() []File {
	const (
		users = "root:x:0:0:root:/root:/sbin/nologin\nnonroot:x:65532:65532:nonroot:/:/sbin/nologin\n"
		group = "root:x:0:\nnonroot:x:65532:\n"
	)
	return []File{
		{Path: "/etc/passwd", Mode: 0o644, Content: []byte(users)},
		{Path: "/etc/group", Mode: 0o644, Content: []byte(group)},
		{Path: "/tmp", Mode: fs.ModeDir | fs.ModeSticky | 0o777},
	}
}

// Platforms are those that images are made for.
func Platforms() []v1.Platform {
	return []v1.Platform{
		{OS: "linux", Architecture: "amd64"},
		{OS: "linux", Architecture: "arm64"},
	}
}

// CheckPlatform returns an error unless p is one of Platforms.
func CheckPlatform(p v1.Platform) error {
	if !slices.ContainsFunc(Platforms(), p.Equals) {
		return fmt.Errorf("platform %s is not one of %v", p, Platforms())
	}
	return nil
}

// CheckStatic returns an error unless binary is an ELF program for platform that needs no dynamic
// loader: the images hold none.
func CheckStatic(binary []byte, platform v1.Platform) error {
	if err := CheckPlatform(platform); err != nil {
		return err
	}
	file, err := elf.NewFile(bytes.NewReader(binary))
	if err != nil {
		return fmt.Errorf("reading ELF header: %w", err)
	}
	if want := machine(platform.Architecture); file.Machine != want {
		return fmt.Errorf("program is for %s, not for %s", file.Machine, platform)
	}
	for _, p := range file.Progs {
		if p.Type == elf.PT_INTERP {
			return fmt.Errorf("program is dynamically linked")
		}
	}
	return nil
}

// machine translates a Go architecture to the one in an ELF header.
func machine(architecture string) elf.Machine {
	if architecture == "arm64" {
		return elf.EM_AARCH64
	}
	return elf.EM_X86_64
}
