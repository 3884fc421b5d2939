// Command cluster runs a real Kubernetes on one machine, without Docker and without an image
// registry elsewhere.
package main
