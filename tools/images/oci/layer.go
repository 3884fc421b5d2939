// Package oci knows how to turn files and settings into container images. It reads no file, clock
// or environment: equal input gives equal bytes, so equal digests.
package oci

import (
	"archive/tar"
	"bytes"
	"cmp"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// epoch is the modification time of every file and the creation time of every image.
func epoch() time.Time { return time.Unix(0, 0).UTC() }

// File is one entry of an image's file system, owned by root. Parent folders that are not listed
// are added with mode 0755.
type File struct {
	// Path is absolute and clean, as in "/etc/passwd".
	Path string
	// Mode holds the permission bits, fs.ModeSticky where wanted, and fs.ModeDir for a folder.
	Mode fs.FileMode
	// Content is the bytes of a regular file.
	Content []byte
	// Link, when set, makes the entry a symbolic link to this target.
	Link string
}

// layer packs files into one compressed layer, in the order of their paths.
func layer(files []File) (v1.Layer, error) {
	archive, err := archive(files)
	if err != nil {
		return nil, err
	}
	opener := func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(archive)), nil }
	l, err := tarball.LayerFromOpener(opener, tarball.WithMediaType(types.OCILayer))
	if err != nil {
		return nil, fmt.Errorf("compressing layer: %w", err)
	}
	return l, nil
}

// archive writes files, and the folders above them, as an uncompressed tar.
func archive(files []File) ([]byte, error) {
	entries, err := withFolders(files)
	if err != nil {
		return nil, err
	}
	var buf bytes.Buffer
	w := tar.NewWriter(&buf)
	for _, f := range entries {
		if err := w.WriteHeader(header(f)); err != nil {
			return nil, fmt.Errorf("writing header of %s: %w", f.Path, err)
		}
		if _, err := w.Write(f.Content); err != nil {
			return nil, fmt.Errorf("writing %s: %w", f.Path, err)
		}
	}
	if err := w.Close(); err != nil {
		return nil, fmt.Errorf("ending archive: %w", err)
	}
	return buf.Bytes(), nil
}

// withFolders sorts files by path, which puts a folder before what it holds, and adds the folders
// nobody listed. A path given twice or not absolute is an error.
func withFolders(files []File) ([]File, error) {
	all := make(map[string]File, len(files))
	for _, f := range files {
		if !path.IsAbs(f.Path) || path.Clean(f.Path) != f.Path || f.Path == "/" {
			return nil, fmt.Errorf("path %q is not an absolute, clean path", f.Path)
		}
		if _, twice := all[f.Path]; twice {
			return nil, fmt.Errorf("path %s is listed twice", f.Path)
		}
		all[f.Path] = f
	}
	for _, f := range files {
		for dir := path.Dir(f.Path); dir != "/"; dir = path.Dir(dir) {
			parent, known := all[dir]
			if !known {
				all[dir] = File{Path: dir, Mode: fs.ModeDir | 0o755}
			} else if !parent.Mode.IsDir() {
				return nil, fmt.Errorf("path %s is below %s, which is not a folder", f.Path, dir)
			}
		}
	}
	entries := make([]File, 0, len(all))
	for _, f := range all {
		entries = append(entries, f)
	}
	slices.SortFunc(entries, func(a, b File) int { return cmp.Compare(a.Path, b.Path) })
	return entries, nil
}

// header describes f without anything of the machine that builds: no owner names, no time.
func header(f File) *tar.Header {
	h := &tar.Header{
		Name:    strings.TrimPrefix(f.Path, "/"),
		Mode:    int64(f.Mode.Perm()),
		ModTime: epoch(),
		Format:  tar.FormatPAX,
	}
	if f.Mode&fs.ModeSticky != 0 {
		h.Mode |= 0o1000
	}
	switch {
	case f.Link != "":
		h.Typeflag, h.Linkname = tar.TypeSymlink, f.Link
	case f.Mode.IsDir():
		h.Typeflag, h.Name = tar.TypeDir, h.Name+"/"
	default:
		h.Typeflag, h.Size = tar.TypeReg, int64(len(f.Content))
	}
	return h
}
