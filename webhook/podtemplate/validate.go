package podtemplate

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	podutil "k8s.io/kubernetes/pkg/api/pod"
	"k8s.io/kubernetes/pkg/apis/core"
	corev1defaults "k8s.io/kubernetes/pkg/apis/core/v1"
	corevalidation "k8s.io/kubernetes/pkg/apis/core/validation"
	"k8s.io/kubernetes/pkg/capabilities"
)

// Options says how strict Validate is.
type Options struct {
	// AllowPrivileged accepts privileged containers (--allow-privileged).
	AllowPrivileged bool
	// Claims names the volume claim templates beside the template. Each counts as a volume of that name,
	// so containers may mount it, and a volume of the same name is a duplicate (CS-31).
	Claims []string
}

// Validate returns what is wrong with template, with field paths below path. old is the template as
// stored, nil on create: what the API server only allows because it was there before is allowed here
// too. Neither is changed. Defaults are filled in on a copy first, so a bare template is judged as the
// API server will see it (WH-154, CS-31).
func Validate(template, old *corev1.PodTemplateSpec, opts Options, path *field.Path) field.ErrorList {
	internal, err := toInternal(template, opts.Claims)
	if err != nil {
		return field.ErrorList{field.InternalError(path, err)}
	}
	var oldInternal *core.PodTemplateSpec
	if old != nil {
		// The old claims are not at hand and do not matter: no leniency depends on a claim.
		if oldInternal, err = toInternal(old, nil); err != nil {
			return field.ErrorList{field.InternalError(path, err)}
		}
	}
	allowPrivilegedInLibrary()
	errs := corevalidation.ValidatePodTemplateSpec(internal, path, leniencies(internal, oldInternal))
	if !opts.AllowPrivileged {
		errs = append(errs, privilegedErrors(template, path.Child("spec"))...)
	}
	return errs
}

// leniencies returns what the API server would accept in a workload of its own, and the four
// indulgences of the reference, which stored objects may rely on (WH-154).
func leniencies(template, old *core.PodTemplateSpec) corevalidation.PodValidationOptions {
	opts := podutil.GetValidationOptionsFromPodTemplate(template, old)
	opts.AllowInvalidPodDeletionCost = true
	opts.AllowIndivisibleHugePagesValues = true
	opts.AllowInvalidLabelValueInSelector = true
	opts.AllowInvalidTopologySpreadConstraintLabelSelector = true
	return opts
}

// toInternal returns a defaulted copy in the form that the library validates.
func toInternal(template *corev1.PodTemplateSpec, claims []string) (*core.PodTemplateSpec, error) {
	holder := &corev1.PodTemplate{Template: *template.DeepCopy()}
	for _, name := range claims {
		holder.Template.Spec.Volumes = append(holder.Template.Spec.Volumes, claimVolume(name))
	}
	corev1defaults.SetObjectDefaults_PodTemplate(holder)
	internal := &core.PodTemplateSpec{}
	return internal, corev1defaults.Convert_v1_PodTemplateSpec_To_core_PodTemplateSpec(&holder.Template, internal, nil)
}

func claimVolume(name string) corev1.Volume {
	return corev1.Volume{Name: name, VolumeSource: corev1.VolumeSource{
		PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: name},
	}}
}

// allowPrivilegedInLibrary switches off the library's check of privileged containers, whose setting
// belongs to the whole process and can be made only once. privilegedErrors checks in its place.
func allowPrivilegedInLibrary() {
	capabilities.Setup(true, 0)
}

// privilegedErrors refuses what gives a container the rights of its node: privileged mode, and host
// processes on Windows.
func privilegedErrors(template *corev1.PodTemplateSpec, path *field.Path) field.ErrorList {
	const detail = "allowed only if the webhook runs with --allow-privileged"
	var errs field.ErrorList
	if pod := template.Spec.SecurityContext; pod != nil && isHostProcess(pod.WindowsOptions) {
		errs = append(errs, field.Forbidden(path.Child("securityContext", "windowsOptions", "hostProcess"), detail))
	}
	check := func(containers []corev1.Container, path *field.Path) {
		for i := range containers {
			security := containers[i].SecurityContext
			if security == nil {
				continue
			}
			if security.Privileged != nil && *security.Privileged {
				errs = append(errs, field.Forbidden(path.Index(i).Child("securityContext", "privileged"), detail))
			}
			if isHostProcess(security.WindowsOptions) {
				errs = append(errs, field.Forbidden(path.Index(i).Child("securityContext", "windowsOptions", "hostProcess"), detail))
			}
		}
	}
	check(template.Spec.InitContainers, path.Child("initContainers"))
	check(template.Spec.Containers, path.Child("containers"))
	return errs
}

func isHostProcess(windows *corev1.WindowsSecurityContextOptions) bool {
	return windows != nil && windows.HostProcess != nil && *windows.HostProcess
}
