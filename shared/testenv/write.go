package testenv

import (
	"net/http"
	"net/url"
	"strings"
)

// Write says what one mutating request does.
type Write struct {
	// Verb is create, update, patch, delete or deletecollection.
	Verb string
	// Group is empty for the core group.
	Group string
	// Resource is the plural name; Subresource is empty or, for example, status.
	Resource, Subresource string
	// Namespace is empty for cluster-wide objects, Name for a create.
	Namespace, Name string
}

// What returns verb and resource, for example "patch pods/status".
func (w Write) What() string {
	what := w.Verb + " " + w.Resource
	if w.Subresource != "" {
		what += "/" + w.Subresource
	}
	return what
}

// parseWrite returns what a request changes; ok is false for reads, dry runs, and paths that are not
// resources.
func parseWrite(method string, u *url.URL) (w Write, ok bool) {
	if u.Query().Get("dryRun") != "" {
		return Write{}, false
	}
	rest, ok := w.parseGroup(strings.Split(strings.Trim(u.Path, "/"), "/"))
	if !ok {
		return Write{}, false
	}
	w.parseResource(rest)
	w.Verb = verbOf(method, w.Name)
	return w, w.Verb != ""
}

// parseGroup takes api/v1 or apis/GROUP/VERSION off the path.
func (w *Write) parseGroup(parts []string) (rest []string, ok bool) {
	switch {
	case len(parts) >= 3 && parts[0] == "api":
		return parts[2:], true
	case len(parts) >= 4 && parts[0] == "apis":
		w.Group = parts[1]
		return parts[3:], true
	default:
		return nil, false
	}
}

// parseResource reads [namespaces/NAMESPACE/]RESOURCE[/NAME[/SUBRESOURCE]].
func (w *Write) parseResource(parts []string) {
	// namespaces/NAME and its two subresources speak of the namespace itself.
	inNamespace := len(parts) >= 3 && parts[0] == "namespaces" && parts[2] != "status" && parts[2] != "finalize"
	if inNamespace {
		w.Namespace = parts[1]
		parts = parts[2:]
	}
	w.Resource = parts[0]
	if len(parts) > 1 {
		w.Name = parts[1]
	}
	if len(parts) > 2 {
		w.Subresource = strings.Join(parts[2:], "/")
	}
}

func verbOf(method, name string) string {
	switch method {
	case http.MethodPost:
		return "create"
	case http.MethodPut:
		return "update"
	case http.MethodPatch:
		return "patch"
	case http.MethodDelete:
		if name == "" {
			return "deletecollection"
		}
		return "delete"
	default:
		return ""
	}
}
