package catalog

import (
	"fmt"
	"slices"
	"strings"
)

// TestSet is the name that selects all test images.
const TestSet = "test"

// Select returns the images with the given names: one of components or test, or TestSet for all of
// test. Without names it returns components.
func Select(names []string, components, test []Image) ([]Image, error) {
	if len(names) == 0 {
		return components, nil
	}
	known := append(nameList(slices.Concat(components, test)), TestSet)
	for _, name := range names {
		if !slices.Contains(known, name) {
			return nil, fmt.Errorf("no image is named %q; there are %s", name, strings.Join(known, ", "))
		}
	}
	var chosen []Image
	for _, i := range components {
		if slices.Contains(names, i.Name) {
			chosen = append(chosen, i)
		}
	}
	for _, i := range test {
		if slices.Contains(names, i.Name) || slices.Contains(names, TestSet) {
			chosen = append(chosen, i)
		}
	}
	return chosen, nil
}

// nameList returns the names of images in order, each once.
func nameList(images []Image) []string {
	var names []string
	for _, i := range images {
		if !slices.Contains(names, i.Name) {
			names = append(names, i.Name)
		}
	}
	return names
}
