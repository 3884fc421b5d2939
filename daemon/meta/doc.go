// Package meta knows how the containers of the node's pods are reported: an annotation of the pod says
// which containers really run and from which spec they were started, so that the in-place update engine
// knows when an update is done (IP-80 to IP-85).
//
// What to report is decided in the package plan. Nothing is remembered here: the pod says what was
// reported, so a daemon that starts again goes on where the last one stopped and writes nothing twice.
package meta
