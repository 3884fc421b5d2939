package inplace

import (
	"strings"
)

// Parts that an image name may leave out.
const (
	defaultDomain     = "docker.io"
	defaultNamespace  = "library/"
	defaultTag        = "latest"
	legacyIndexDomain = "index.docker.io"
)

// sameImage tells whether two image references name the same image once both are written in full, so
// that a runtime which reports docker.io/library/web:1 for web:1 is understood. Source: P-6.
func sameImage(a, b string) bool { return normalizeImage(a) == normalizeImage(b) }

// normalizeImage writes a reference in full: domain, path, and digest or tag. A tag next to a digest
// does not count, since the digest decides what is pulled.
func normalizeImage(image string) string {
	name, digest, _ := strings.Cut(image, "@")
	tag := ""
	// A colon before the last slash belongs to the port of a domain.
	if colon := strings.LastIndexByte(name, ':'); colon > strings.LastIndexByte(name, '/') {
		name, tag = name[:colon], name[colon+1:]
	}
	domain, path, found := strings.Cut(name, "/")
	if !found || !isDomain(domain) {
		domain, path = defaultDomain, name
	}
	if domain == legacyIndexDomain {
		domain = defaultDomain
	}
	if domain == defaultDomain && !strings.Contains(path, "/") {
		path = defaultNamespace + path
	}
	switch {
	case digest != "":
		return domain + "/" + path + "@" + digest
	case tag == "":
		tag = defaultTag
	}
	return domain + "/" + path + ":" + tag
}

// isDomain tells the first part of an image name that is a registry from one that is a namespace.
func isDomain(part string) bool {
	return part == "localhost" || strings.ContainsAny(part, ".:") || strings.ToLower(part) != part
}
