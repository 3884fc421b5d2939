// Package wire holds what Flotilla and other parties read and write on objects that are not
// Flotilla's own kinds: labels, annotations, finalizers, conditions and the JSON carried in them.
//
// Every name here is part of the contract with existing clusters (written by OpenKruise or by an
// earlier Flotilla) and never changes. One file per concept; parse and format functions stand next
// to the structure they serve. The package depends on apimachinery and k8s.io/api only.
package wire
