// Package sidecar will hold the controllers of SidecarSets, container launch priority and the job sidecar terminator.
// README.md beside this file says what belongs here.
package sidecar
