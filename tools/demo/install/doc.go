// Package install brings Flotilla into a cluster: it builds the images, renders deploy/overlays/default with
// their digests, applies the result and waits until everything serves.
package install
