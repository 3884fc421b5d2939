// Package server knows which hooks the webhook service has and how the service runs: flags, path table,
// TLS server, registration and health.
package server
