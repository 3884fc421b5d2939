// Package patch knows how a controller writes what it decided without overwriting what others wrote: only
// if something changed, only onto the version that was read, and how a refused write is tried again.
package patch
