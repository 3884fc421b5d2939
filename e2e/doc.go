// Package e2e holds tests of Flotilla as users see it: of a cluster in which it is installed, through nothing but
// the API. They need KUBECONFIG, and a cluster that has the test images:
//
//	go run ./tools/cluster up --name flotilla-e2e && go run ./tools/demo install --name flotilla-e2e
//	KUBECONFIG=$(go run ./tools/cluster kubeconfig --name flotilla-e2e) go test ./e2e/...
//
// Tests that take a part of Flotilla away run one after another, all others side by side, each in a namespace
// of its own. On a cluster whose nodes are all simulated, those that need a real kubelet are skipped.
package e2e
