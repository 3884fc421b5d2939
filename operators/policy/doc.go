// Package policy will hold the controllers of PodUnavailableBudgets, probes by the node daemon, container recreation and pod readiness.
// README.md beside this file says what belongs here.
package policy
