package podtemplate

import corev1 "k8s.io/api/core/v1"

// Modes and times of CS-25, as the API server has them.
const (
	defaultFileMode               int32 = 0o644
	defaultTokenExpirationSeconds int64 = 60 * 60
)

// defaultVolume fills in emptyDir for a volume without source, and the modes of sources that project
// files. Other kinds of volume are left to the API server (CS-25).
func defaultVolume(volume *corev1.Volume) {
	source := &volume.VolumeSource
	if *source == (corev1.VolumeSource{}) {
		source.EmptyDir = &corev1.EmptyDirVolumeSource{}
	}
	if source.HostPath != nil {
		fillPointer(&source.HostPath.Type, corev1.HostPathUnset)
	}
	if source.Secret != nil {
		fillPointer(&source.Secret.DefaultMode, defaultFileMode)
	}
	if source.ConfigMap != nil {
		fillPointer(&source.ConfigMap.DefaultMode, defaultFileMode)
	}
	if source.DownwardAPI != nil {
		fillPointer(&source.DownwardAPI.DefaultMode, defaultFileMode)
		defaultDownwardItems(source.DownwardAPI.Items)
	}
	if source.Projected != nil {
		defaultProjected(source.Projected)
	}
}

func defaultProjected(projected *corev1.ProjectedVolumeSource) {
	fillPointer(&projected.DefaultMode, defaultFileMode)
	for i := range projected.Sources {
		source := &projected.Sources[i]
		if source.DownwardAPI != nil {
			defaultDownwardItems(source.DownwardAPI.Items)
		}
		if source.ServiceAccountToken != nil {
			fillPointer(&source.ServiceAccountToken.ExpirationSeconds, defaultTokenExpirationSeconds)
		}
	}
}

// defaultDownwardItems names the version of field references in files as defaultContainer does in
// variables: both are the same API object with the same default.
func defaultDownwardItems(items []corev1.DownwardAPIVolumeFile) {
	for i := range items {
		defaultFieldRef(items[i].FieldRef)
	}
}
