package lifecycle

import (
	"path/filepath"

	"github.com/flotilla-k8s/flotilla/tools/cluster/pki"
	"github.com/flotilla-k8s/flotilla/tools/cluster/plan"
	"github.com/flotilla-k8s/flotilla/tools/cluster/simulate"
)

// writeFiles brings certificates, kubeconfigs and configuration files up to date.
func (m Manager) writeFiles(c plan.Cluster) error {
	store := pki.Store{Dir: c.PKI(), Now: m.Now}
	authority, err := store.Authority(plan.Authority)
	if err != nil {
		return err
	}
	if err := store.KeyPair(plan.ServiceAccounts, plan.ServiceAccountPublicKey); err != nil {
		return err
	}
	for _, id := range c.Identities() {
		if err := authority.Issue(id.Name, pki.Subject{User: id.User, Groups: id.Groups, Hosts: id.Hosts}); err != nil {
			return err
		}
		if id.WithoutKubeconfig {
			continue
		}
		content, err := store.Kubeconfig("flotilla-"+c.Name, c.APIServerURL(), plan.Authority, id.Name)
		if err != nil {
			return err
		}
		if err := writeFile(c.Kubeconfig(id.Name), content, 0o600); err != nil {
			return err
		}
		if id.Name == plan.AdminIdentity {
			if err := writeFile(c.AdminKubeconfig(), content, 0o600); err != nil {
				return err
			}
		}
	}
	return m.writeConfigs(c)
}

func (m Manager) writeConfigs(c plan.Cluster) error {
	files, err := c.Files()
	if err != nil {
		return err
	}
	if c.Simulated > 0 {
		if files["etc/kwok.yaml"], err = simulate.Stages(); err != nil {
			return err
		}
	}
	for name, content := range files {
		if err := writeFile(filepath.Join(c.Dir, name), content, 0o644); err != nil {
			return err
		}
	}
	return nil
}
