package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"runtime"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/spf13/cobra"

	"github.com/flotilla-k8s/flotilla/tools/images/assemble"
	"github.com/flotilla-k8s/flotilla/tools/images/busybox"
	"github.com/flotilla-k8s/flotilla/tools/images/catalog"
	"github.com/flotilla-k8s/flotilla/tools/images/compile"
	"github.com/flotilla-k8s/flotilla/tools/images/oci"
	"github.com/flotilla-k8s/flotilla/tools/images/publish"
)

// buildOptions are the flags of "images build".
type buildOptions struct {
	root      string
	release   catalog.Release
	test      catalog.TestOptions
	platforms []string
	busybox   map[string]string
	push      string
	output    string
}

func buildCommand() *cobra.Command {
	var o buildOptions
	cmd := &cobra.Command{
		Use:   "build [NAME...]",
		Short: "Build images and push them or write them as tarballs",
		Long: "Build builds the named images, \"test\" being all test images; without a name, every component.\n" +
			"It prints what it published, one a line: a reference with its digest, or a tarball's path.",
		RunE: func(cmd *cobra.Command, names []string) error {
			return o.run(cmd.Context(), names, cmd.OutOrStdout())
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.push, "push", "", "registry to push to, HOST[:PORT][/PREFIX]; plain HTTP for loopback and private addresses")
	f.StringVar(&o.output, "output", "", "folder for one tarball per reference and platform")
	f.StringVar(&o.release.Tag, "tag", "dev", "tag of the components' images")
	f.StringVar(&o.release.Version, "version", "", "version the components call themselves (default: the tag)")
	f.StringVar(&o.release.Revision, "revision", "", "commit named in the components' labels (default: no label)")
	f.StringSliceVar(&o.test.Tags, "test-tags", []string{"v1", "v2", "v3"}, "tags of each test image")
	f.StringVar(&o.test.Sandbox, "sandbox", "registry.k8s.io/pause:3.10.1", "further reference of test-pause in its first tag, for a runtime's sandboxes")
	f.StringSliceVar(&o.platforms, "platform", nil, "platforms, as in linux/arm64 (default: the host's for tarballs and local registries, else linux/amd64 and linux/arm64)")
	f.StringToStringVar(&o.busybox, "busybox", nil, "static busybox for a platform, as in linux/arm64=FILE (default: "+busybox.HostPath+" for the host's)")
	f.StringVar(&o.root, "source", "", "folder of the repository (default: the one around the working directory)")
	return cmd
}

func (o *buildOptions) run(ctx context.Context, names []string, out io.Writer) error {
	if o.push == "" && o.output == "" {
		return errors.New("nowhere to put the images: give --push, --output or both")
	}
	images, err := o.images(names)
	if err != nil {
		return err
	}
	platforms, err := o.targets()
	if err != nil {
		return err
	}
	builder, err := o.builder()
	if err != nil {
		return err
	}
	for _, image := range images {
		built, err := builder.Build(ctx, image, platforms)
		if err != nil {
			return err
		}
		if err := o.publish(ctx, image.References, built, out); err != nil {
			return err
		}
	}
	return nil
}

func (o *buildOptions) images(names []string) ([]catalog.Image, error) {
	if len(o.test.Tags) == 0 {
		return nil, errors.New("--test-tags names no tag")
	}
	return catalog.Select(names, catalog.Components(o.stamped()), catalog.Test(o.test))
}

// stamped is the release with its default version filled in.
func (o *buildOptions) stamped() catalog.Release {
	r := o.release
	if r.Version == "" {
		r.Version = r.Tag
	}
	return r
}

func (o *buildOptions) builder() (*assemble.Builder, error) {
	root := o.root
	if root == "" {
		wd, err := os.Getwd()
		if err != nil {
			return nil, fmt.Errorf("finding working directory: %w", err)
		}
		if root, err = repository(wd); err != nil {
			return nil, err
		}
	}
	host := hostPlatform()
	paths := map[string]string{host.String(): busybox.HostPath}
	maps.Copy(paths, o.busybox)
	return assemble.New(
		compile.Toolchain{Root: root, Version: o.stamped().Version},
		busybox.Host{Platform: host, Paths: paths},
	), nil
}

// targets are the platforms to build for.
func (o *buildOptions) targets() ([]v1.Platform, error) {
	if len(o.platforms) == 0 {
		return o.defaultTargets()
	}
	var platforms []v1.Platform
	for _, text := range o.platforms {
		p, err := v1.ParsePlatform(text)
		if err != nil {
			return nil, fmt.Errorf("reading platform %q: %w", text, err)
		}
		if err := oci.CheckPlatform(*p); err != nil {
			return nil, err
		}
		platforms = append(platforms, *p)
	}
	return platforms, nil
}

// defaultTargets is the host's platform where the images stay near, and every platform where
// anybody may pull them.
func (o *buildOptions) defaultTargets() ([]v1.Platform, error) {
	if o.push == "" {
		return []v1.Platform{hostPlatform()}, nil
	}
	local, err := publish.Destination(o.push).Local()
	if err != nil {
		return nil, err
	}
	if local {
		return []v1.Platform{hostPlatform()}, nil
	}
	return oci.Platforms(), nil
}

func (o *buildOptions) publish(ctx context.Context, references []string, images []v1.Image, out io.Writer) error {
	if o.output != "" {
		if err := o.save(references, images, out); err != nil {
			return err
		}
	}
	if o.push == "" {
		return nil
	}
	index, err := oci.Index(images)
	if err != nil {
		return err
	}
	pushed, err := publish.Push(ctx, publish.Destination(o.push), references, index)
	if err != nil {
		return err
	}
	for _, p := range pushed {
		if _, err := fmt.Fprintln(out, p); err != nil {
			return fmt.Errorf("printing result: %w", err)
		}
	}
	return nil
}

func (o *buildOptions) save(references []string, images []v1.Image, out io.Writer) error {
	for _, image := range images {
		for _, reference := range references {
			file, err := publish.Save(o.output, reference, image)
			if err != nil {
				return err
			}
			if _, err := fmt.Fprintln(out, file); err != nil {
				return fmt.Errorf("printing result: %w", err)
			}
		}
	}
	return nil
}

// hostPlatform is what containers on this machine run as; its kernel is Linux in any case.
func hostPlatform() v1.Platform {
	return v1.Platform{OS: "linux", Architecture: runtime.GOARCH}
}

// repository returns the folder at or above dir that holds go.work.
func repository(dir string) (string, error) {
	for at := dir; ; at = filepath.Dir(at) {
		if _, err := os.Stat(filepath.Join(at, "go.work")); err == nil {
			return at, nil
		}
		if at == filepath.Dir(at) {
			return "", fmt.Errorf("no go.work at or above %s: name the repository with --source", dir)
		}
	}
}
