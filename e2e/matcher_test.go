package e2e_test

import (
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/types"
)

// HaveSuffixOf matches a list that ends with the given elements.
func HaveSuffixOf[T comparable](want ...T) types.GomegaMatcher {
	return WithTransform(func(have []T) []T { return have[max(0, len(have)-len(want)):] }, Equal(want))
}
