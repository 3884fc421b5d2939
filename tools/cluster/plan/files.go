package plan

import (
	"bytes"
	"embed"
	"fmt"
	"path"
	"text/template"
)

//go:embed templates
var templates embed.FS

// PauseImage is the image of every pod's sandbox.
const PauseImage = "docker.io/flotilla/pause:local"

// node is what the template of a node's file sees.
type node struct {
	Cluster
	Node       string
	Index      int
	PauseImage string
}

// Files returns the configuration files by their path in the cluster's directory, without the
// stages of simulated nodes.
func (c Cluster) Files() (map[string][]byte, error) {
	files := map[string][]byte{
		// Pods have no name server but the cluster's, so none of the host's is passed on.
		"etc/resolv.conf": nil,
	}
	add := func(name, from string, data any) error {
		content, err := render(from, data)
		if err != nil {
			return err
		}
		files[name] = content
		return nil
	}
	if err := add("etc/scheduler.yaml", "scheduler.yaml", c); err != nil {
		return nil, err
	}
	// The same file for every registry a pod may name: they all resolve to the cluster's own,
	// and a missing image is reported as missing instead of being sought on the internet.
	if err := add("etc/certs.d/_default/hosts.toml", "hosts.toml", c); err != nil {
		return nil, err
	}
	for i, name := range c.NodeNames() {
		data := node{Cluster: c, Node: name, Index: i, PauseImage: PauseImage}
		for to, from := range map[string]string{
			"containerd.toml":          "containerd.toml",
			"kubelet.yaml":             "kubelet.yaml",
			"kube-proxy.yaml":          "kube-proxy.yaml",
			"cni/10-flotilla.conflist": "cni.conflist",
		} {
			if err := add(path.Join("etc", name, to), from, data); err != nil {
				return nil, err
			}
		}
	}
	return files, nil
}

func render(name string, data any) ([]byte, error) {
	t, err := template.ParseFS(templates, "templates/"+name)
	if err != nil {
		return nil, fmt.Errorf("parsing the template %s: %w", name, err)
	}
	var out bytes.Buffer
	if err := t.Execute(&out, data); err != nil {
		return nil, fmt.Errorf("rendering %s: %w", name, err)
	}
	return out.Bytes(), nil
}
