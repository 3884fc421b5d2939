// Package cert knows how the webhook service gets and keeps its certificate.
//
// Certificates are made and judged by the cert-controller library. Of the library only that is used, and
// not its controller, because the controller ends the process when the Secret is absent, waits for files
// to be mounted, writes one CA where two have to overlap, and writes it into every hook of a
// configuration, also into those of others (WH-153, WH-81, KP-11).
//
// The Secret is the only place where certificates live. Every replica watches it and serves what it
// holds from memory: a new certificate is served within moments on all replicas, and no key, least of
// all that of the CA, is ever in a file (KP-16).
package cert
