// Package voyage knows what the demo does step by step, what it promises, and how to show it. It computes
// from what was seen of the pods and touches no cluster.
package voyage
