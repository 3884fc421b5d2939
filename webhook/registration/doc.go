// Package registration knows how the API server learns where to send admission and conversion requests.
//
// The two webhook configurations are installed empty, by manifest (WH-79). Every replica writes into them
// the hooks that its own version and its flags call for, and the CA bundle of each, and puts address and
// bundle into the conversion stanza of the CRDs of its families. Hooks of others in the same objects are
// left alone (WH-81). All replicas of one version write the same, so no leader is needed.
package registration
