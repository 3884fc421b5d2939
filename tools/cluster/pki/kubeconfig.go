package pki

import (
	"fmt"
	"os"
	"path/filepath"

	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"
)

// Kubeconfig returns a kubeconfig that stands alone: keys and certificates are inside, so that
// it can be copied anywhere.
func (s Store) Kubeconfig(cluster, server, authority, identity string) ([]byte, error) {
	var pems [3][]byte
	for i, file := range []string{authority + ".crt", identity + ".crt", identity + ".key"} {
		content, err := os.ReadFile(filepath.Join(s.Dir, file))
		if err != nil {
			return nil, fmt.Errorf("making the kubeconfig of %s: %w", identity, err)
		}
		pems[i] = content
	}
	config := api.NewConfig()
	config.Clusters[cluster] = &api.Cluster{Server: server, CertificateAuthorityData: pems[0]}
	config.AuthInfos[identity] = &api.AuthInfo{ClientCertificateData: pems[1], ClientKeyData: pems[2]}
	config.Contexts[cluster] = &api.Context{Cluster: cluster, AuthInfo: identity}
	config.CurrentContext = cluster
	content, err := clientcmd.Write(*config)
	if err != nil {
		return nil, fmt.Errorf("making the kubeconfig of %s: %w", identity, err)
	}
	return content, nil
}
