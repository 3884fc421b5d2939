// Package cloneset is the controller of CloneSet: interchangeable pods with in-place update,
// partitioned roll-outs and chosen deletion.
//
// A pass has these steps, each in the file of its name:
//
//	history   bring the ControllerRevisions in line with the template
//	observe   read pods and claims from the cache into a plan.World
//	plan      decide (package plan, pure)
//	act       carry the plan out, stop after the first phase that changed something
//	report    write the status once, if it changed
//
// Everything a pass needs to know of an earlier one is on the objects, so a pass may be cut off
// between any two writes and another process may go on. The rules are those of the CloneSet
// specification (CS) and, for what concerns a pod's update, of the in-place engine (IP, LC, RV).
package cloneset
