package revision

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// tokenLifetimeSeconds is how long a projected service account token lives by default.
const tokenLifetimeSeconds = 3600

func setVolumeDefaults(v *corev1.Volume) {
	if v.VolumeSource == (corev1.VolumeSource{}) {
		v.EmptyDir = &corev1.EmptyDirVolumeSource{}
	}
	if v.HostPath != nil {
		point(&v.HostPath.Type, corev1.HostPathUnset)
	}
	if v.Secret != nil {
		point(&v.Secret.DefaultMode, corev1.SecretVolumeSourceDefaultMode)
	}
	if v.ConfigMap != nil {
		point(&v.ConfigMap.DefaultMode, corev1.ConfigMapVolumeSourceDefaultMode)
	}
	if v.DownwardAPI != nil {
		point(&v.DownwardAPI.DefaultMode, corev1.DownwardAPIVolumeSourceDefaultMode)
		setDownwardItemDefaults(v.DownwardAPI.Items)
	}
	if v.Projected != nil {
		setProjectedDefaults(v.Projected)
	}
	if v.Ephemeral != nil && v.Ephemeral.VolumeClaimTemplate != nil {
		setClaimTemplateDefaults(v.Ephemeral.VolumeClaimTemplate)
	}
	if v.Image != nil && v.Image.PullPolicy == "" {
		v.Image.PullPolicy = corev1.PullIfNotPresent
		if followsLatest(v.Image.Reference) {
			v.Image.PullPolicy = corev1.PullAlways
		}
	}
	setNetworkVolumeDefaults(v)
}

func setDownwardItemDefaults(items []corev1.DownwardAPIVolumeFile) {
	for i := range items {
		setFieldRefDefaults(items[i].FieldRef)
	}
}

func setProjectedDefaults(p *corev1.ProjectedVolumeSource) {
	point(&p.DefaultMode, corev1.ProjectedVolumeSourceDefaultMode)
	for i := range p.Sources {
		source := &p.Sources[i]
		if source.DownwardAPI != nil {
			setDownwardItemDefaults(source.DownwardAPI.Items)
		}
		if source.ServiceAccountToken != nil {
			point(&source.ServiceAccountToken.ExpirationSeconds, tokenLifetimeSeconds)
		}
	}
}

func setClaimTemplateDefaults(c *corev1.PersistentVolumeClaimTemplate) {
	c.CreationTimestamp = metav1.Time{}
	point(&c.Spec.VolumeMode, corev1.PersistentVolumeFilesystem)
	roundUp(c.Spec.Resources.Limits)
	roundUp(c.Spec.Resources.Requests)
}

// setNetworkVolumeDefaults covers the volume types that name their own servers.
func setNetworkVolumeDefaults(v *corev1.Volume) {
	if v.ISCSI != nil {
		fill(&v.ISCSI.ISCSIInterface, "default")
	}
	if v.RBD != nil {
		fill(&v.RBD.RBDPool, "rbd")
		fill(&v.RBD.RadosUser, "admin")
		fill(&v.RBD.Keyring, "/etc/ceph/keyring")
	}
	if v.ScaleIO != nil {
		fill(&v.ScaleIO.StorageMode, "ThinProvisioned")
		fill(&v.ScaleIO.FSType, "xfs")
	}
	if v.AzureDisk != nil {
		point(&v.AzureDisk.CachingMode, corev1.AzureDataDiskCachingReadWrite)
		point(&v.AzureDisk.FSType, "ext4")
		point(&v.AzureDisk.ReadOnly, false)
		point(&v.AzureDisk.Kind, corev1.AzureSharedBlobDisk)
	}
}
