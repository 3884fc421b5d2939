package catalog

import (
	"github.com/flotilla-k8s/flotilla/tools/images/compile"
	"github.com/flotilla-k8s/flotilla/tools/images/oci"
)

// TagFile holds the tag of a test image. It gives two tags of one program different image IDs, and
// it is where test-server reads the version it answers with.
const TagFile = "/etc/image-tag"

// BrokenTag is the tag under which test-server exits with an error as soon as it starts.
const BrokenTag = "broken"

// TestOptions says which test images to make.
type TestOptions struct {
	// Tags of each test image; test-server has BrokenTag as well.
	Tags []string
	// Sandbox is one more reference of test-pause in its first tag, so that a runtime which asks for
	// its usual sandbox image gets this one; empty for none.
	Sandbox string
}

// Test returns the images that tests and demos run, one for each program and tag:
// flotilla/test-server, flotilla/test-pause and flotilla/test-busybox.
func Test(o TestOptions) []Image {
	var images []Image
	for i, tag := range o.Tags {
		pause := testImage("test-pause", "pause", tag, "waits for TERM and reaps")
		if i == 0 && o.Sandbox != "" {
			pause.References = append(pause.References, o.Sandbox)
		}
		images = append(images, server(tag), pause, busybox(tag))
	}
	broken := server(BrokenTag)
	broken.Config.Env = []string{"CRASH_AFTER=0s"}
	return append(images, broken)
}

func server(tag string) Image {
	return testImage("test-server", "server", tag, "HTTP server that answers with its version")
}

// busybox has no entrypoint, so that a pod's args alone are a command. Its applets end on TERM
// even as process 1, which the links to the applet program see to.
func busybox(tag string) Image {
	i := testImage("test-busybox", "applet", tag, "busybox that ends on TERM")
	i.Busybox = true
	i.Path = "/bin/applet"
	i.Config.Entrypoint = nil
	i.Config.Cmd = []string{"sleep", "infinity"}
	return i
}

// testImage is the image of the program in tools/testimages/PROGRAM.
func testImage(name, program, tag, title string) Image {
	path := "/" + name
	return Image{
		Name:       name,
		References: []string{reference("flotilla/"+name, tag)},
		Program:    compile.Program{Dir: "tools", Package: "./testimages/" + program},
		Path:       path,
		Files:      []oci.File{{Path: TagFile, Mode: 0o644, Content: []byte(tag + "\n")}},
		Config: oci.Config{
			User:       oci.NonRoot,
			Entrypoint: []string{path},
			Labels:     labels(name, title, Release{Version: tag}),
		},
	}
}
