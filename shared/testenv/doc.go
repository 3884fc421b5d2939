// Package testenv knows how tests get a real API server, and how they make its answers fail.
//
// It is the one place that starts envtest. The programs, etcd and kube-apiserver, are built from Go
// modules by `make kubebuilder-assets`; their directory is given in KUBEBUILDER_ASSETS. A test that needs
// them and does not find them fails: a skipped test proves nothing.
package testenv
