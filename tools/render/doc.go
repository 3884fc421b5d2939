// Package render holds the test of what deploy renders to: that every object is complete and asks for no
// more than it needs.
package render
