package inplace

import "testing"

func TestSameImage(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"web", "docker.io/library/web:latest", true},
		{"web:1", "docker.io/library/web:1", true},
		{"index.docker.io/library/web:1", "web:1", true},
		{"shop/web:1", "docker.io/shop/web:1", true},
		{"localhost/web:1", "web:1", false},
		{"localhost/web", "localhost/web:latest", true},
		{"reg:5000/web", "reg:5000/web:latest", true},
		{"reg.example.com/shop/web:1", "reg.example.com/shop/web:2", false},
		{"reg.example.com/shop/web:1", "shop/web:1", false},
		{"web:1@sha256:abc", "docker.io/library/web@sha256:abc", true},
		{"web@sha256:abc", "web@sha256:abd", false},
		{"web:1", "web@sha256:abc", false},
	} {
		if got := sameImage(c.a, c.b); got != c.want {
			t.Errorf("P-6: sameImage(%q, %q) = %v", c.a, c.b, got)
		}
		if got := sameImage(c.b, c.a); got != c.want {
			t.Errorf("P-6: sameImage(%q, %q) = %v", c.b, c.a, got)
		}
	}
}
