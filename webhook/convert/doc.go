// Package convert turns objects of kinds with two versions from one version into the other, and
// answers the API server's ConversionReviews with it.
//
// Every kind brings plain rules: a function to the hub version, v1beta1, and one to the spoke,
// v1alpha1 (one file a kind). The rules alone would lose what only one version can say. The keeper
// around them makes up for that without knowing any kind: it looks at what a trip to the other
// version and back would change, and lets exactly those fields travel in one annotation, each with
// the value that the plain rules give instead. On the way back a field is restored only if its place
// still has that value, so what a client changed in the other version always wins (WH-130).
//
// Objects are JSON as apimachinery decodes it (map[string]any with int64 and float64), not Go types,
// so fields that this program does not know survive (CS-53). No input is altered.
package convert
