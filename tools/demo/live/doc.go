// Package live knows how to put the demo's pods into a cluster, follow them, and show them to a person.
package live
