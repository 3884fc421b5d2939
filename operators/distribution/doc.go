// Package distribution will hold the controllers of ResourceDistributions, ConfigMapSets, UnitedDeployments, WorkloadSpreads and PersistentPodStates.
// README.md beside this file says what belongs here.
package distribution
