package layout_test

import (
	"testing"

	"github.com/flotilla-k8s/flotilla/tools/cluster/layout"
)

func TestFromEnv(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", "/home/user/.cache")
	cases := map[string]struct {
		env  map[string]string
		want layout.Dirs
	}{
		"neither variable": {nil, layout.Dirs{Cache: "/home/user/.cache/flotilla", Clusters: "/home/user/.cache/flotilla/clusters"}},
		"the cache moves the state along": {
			map[string]string{"FLOTILLA_CACHE": "/fast"}, layout.Dirs{Cache: "/fast", Clusters: "/fast/clusters"},
		},
		"both": {
			map[string]string{"FLOTILLA_CACHE": "/fast", "FLOTILLA_STATE": "/safe"}, layout.Dirs{Cache: "/fast", Clusters: "/safe"},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := layout.FromEnv(func(key string) string { return c.env[key] })
			if err != nil || got != c.want {
				t.Errorf("got %+v, %v", got, err)
			}
		})
	}
}
