package convert

import (
	"fmt"
	"strings"
)

// To converts an object to apiVersion, a group and version such as apps.kruise.io/v1beta1. Both
// versions must be of the same group. It returns an error only if the kind is not one with two
// versions or a version is not one of them; what an object holds never makes it fail.
//
// obj is JSON as apimachinery decodes it, e.g. the content of an unstructured.Unstructured, and is not
// altered.
func To(obj map[string]any, apiVersion string) (Result, error) {
	from, _ := obj["apiVersion"].(string)
	kind, _ := obj["kind"].(string)
	fromGroup, fromVersion, _ := strings.Cut(from, "/")
	toGroup, toVersion, _ := strings.Cut(apiVersion, "/")

	rules, known := rulesFor(fromGroup, kind)
	switch {
	case !known || fromGroup != toGroup:
	case fromVersion == toVersion && (toVersion == hubVersion || toVersion == spokeVersion):
		return Result{Object: obj}, nil
	case fromVersion == spokeVersion && toVersion == hubVersion:
		return rules.up(obj), nil
	case fromVersion == hubVersion && toVersion == spokeVersion:
		return rules.down(obj), nil
	}
	return Result{}, fmt.Errorf("converting %s %q to %q: there is no such conversion", kind, from, apiVersion)
}

// rulesFor is the table of kinds with two versions.
func rulesFor(group, kind string) (rules, bool) {
	switch group + "/" + kind {
	case "apps.kruise.io/CloneSet":
		return cloneSet(), true
	default:
		return rules{}, false
	}
}
