// Package catalog knows which images this repository makes and what is in each.
package catalog

import (
	"github.com/flotilla-k8s/flotilla/tools/images/compile"
	"github.com/flotilla-k8s/flotilla/tools/images/oci"
)

// Registry is the registry in the images' reference names.
const Registry = "docker.io"

// Image is one image to build.
type Image struct {
	// Name selects the image on the command line.
	Name string
	// References are the names it is published under, registry and tag included; at least one.
	References []string
	// Program is compiled and put at Path.
	Program compile.Program
	Path    string
	// Files are added on every platform, after oci.BaseFiles and the program.
	Files []oci.File
	// Busybox adds the host's /bin/busybox, with a link to Path for each of its applets.
	Busybox bool
	// Config is what the image tells a runtime.
	Config oci.Config
}

// Release is what all images of one build share.
type Release struct {
	// Tag of the references and Version of the label and of the binaries' main.version.
	Tag, Version string
	// Revision is the commit for the image's label; empty leaves the label out.
	Revision string
}

// component is a long-running part of Flotilla: its image's name, folder and user.
type component struct {
	name, dir, user, title string
}

// components lists every part that has a main package. The daemon alone is root: the runtime's
// socket belongs to root.
func components() []component {
	return []component{
		{"workloads", "operators/workloads", oci.NonRoot, "CloneSet, Advanced StatefulSet and Advanced DaemonSet controllers"},
		{"webhook", "webhook", oci.NonRoot, "admission and conversion service"},
		{"daemon", "daemon", oci.Root, "node agent"},
	}
}

// Components returns the images of Flotilla itself, flotilla/NAME:TAG.
func Components(r Release) []Image {
	var images []Image
	for _, c := range components() {
		path := "/" + c.name
		images = append(images, Image{
			Name:       c.name,
			References: []string{reference("flotilla/"+c.name, r.Tag)},
			Program:    compile.Program{Dir: c.dir, Package: "."},
			Path:       path,
			Config: oci.Config{
				User:       c.user,
				Entrypoint: []string{path},
				Labels:     labels(c.name, c.title, r),
			},
		})
	}
	return images
}

// labels returns the OCI annotations of an image.
func labels(name, title string, r Release) map[string]string {
	l := map[string]string{
		"org.opencontainers.image.title":       "flotilla/" + name,
		"org.opencontainers.image.description": "Flotilla: " + title,
		"org.opencontainers.image.source":      "https://github.com/flotilla-k8s/flotilla",
		"org.opencontainers.image.licenses":    "Apache-2.0",
		"org.opencontainers.image.version":     r.Version,
	}
	if r.Revision != "" {
		l["org.opencontainers.image.revision"] = r.Revision
	}
	return l
}

func reference(repository, tag string) string {
	return Registry + "/" + repository + ":" + tag
}
