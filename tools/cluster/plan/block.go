package plan

import (
	"errors"
	"net/netip"
	"slices"
)

// FreeBlock returns the lowest block that no other cluster owns and whose addresses no route of
// the host leads to.
func FreeBlock(owned map[int]bool, routes []netip.Prefix) (int, error) {
	for block := range Blocks {
		if !owned[block] && !slices.ContainsFunc(routes, NetworkOf(block).Overlaps) {
			return block, nil
		}
	}
	return 0, errors.New("no address block is free: other clusters or routes of this host use them all")
}
