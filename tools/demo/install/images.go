package install

import (
	"fmt"
	"path"
	"strings"
)

// Digests holds the digest of each image by its name without registry and tag, as in flotilla/webhook.
type Digests map[string]string

// Components are the images that are installed.
func Components() []string { return []string{"workloads", "webhook", "daemon"} }

// ParsePushed reads what "images build --push" prints, one REGISTRY/NAME:TAG@DIGEST a line.
func ParsePushed(output, registry string) (Digests, error) {
	digests := Digests{}
	for line := range strings.Lines(output) {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		reference, digest, found := strings.Cut(line, "@")
		name, inside := strings.CutPrefix(reference, registry+"/")
		if !found || !inside {
			return nil, fmt.Errorf("reading a pushed image: %q is not %s/NAME:TAG@DIGEST", line, registry)
		}
		folder, last := path.Split(name)
		last, _, _ = strings.Cut(last, ":")
		digests[folder+last] = digest
	}
	return digests, nil
}
