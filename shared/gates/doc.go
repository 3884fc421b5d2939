// Package gates knows which feature gates exist, how a --feature-gates string is read, and which gates
// follow from others (DEP-133 to DEP-175).
//
// There is no process-wide registry: a component reads its flag once at start and hands the resulting
// Set to whatever asks. The same string goes to every component (DEP-134), so every name of the
// reference is accepted by all of them; a gate that no component reads yet is reported when it is set.
package gates
