package podtemplate_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/flotilla-k8s/flotilla/webhook/podtemplate"
)

func TestValidate(t *testing.T) {
	const container = `containers: [{name: a, image: "a:1"}]`
	// Refused by the API server since some version, unless it is there already.
	const admin = `spec: {containers: [{name: a, image: a, securityContext: {allowPrivilegeEscalation: false, capabilities: {add: [CAP_SYS_ADMIN]}}}]}`
	unprivileged := podtemplate.Options{}
	privileged := podtemplate.Options{AllowPrivileged: true}
	for _, c := range []struct {
		name       string
		given, old string // fields of the template; no old on create
		opts       podtemplate.Options
		want       []string
	}{
		{"WH-154: a bare template is judged with its defaults", `spec: {` + container + `}`, ``, unprivileged, nil},
		{"WH-154: a broken one is not", `spec: {containers: [{name: A, image: a}]}`, ``, unprivileged, []string{"t.spec.containers[0].name: Invalid value"}},
		{"CS-31: claims count as volumes", `spec: {containers: [{name: a, image: a, volumeMounts: [{name: data, mountPath: /d}]}]}`, ``,
			podtemplate.Options{Claims: []string{"data"}}, nil},
		{"WH-154: leniencies", `metadata: {annotations: {controller.kubernetes.io/pod-deletion-cost: much}},
			spec: {` + container + `, affinity: {podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: zone, labelSelector: {matchExpressions: [{key: a, operator: In, values: ["no label!"]}]}}]}},
				topologySpreadConstraints: [{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: ScheduleAnyway, labelSelector: {matchLabels: {a: "no label!"}}}]}`,
			``, unprivileged, nil},
		{"WH-154: what the API server refuses by now", admin, ``, unprivileged, []string{"t.spec.containers[0].securityContext: Invalid value"}},
		{"WH-154: stays if it was stored", admin, admin, unprivileged, nil},
		{"WH-154: privileged, allowed", `spec: {containers: [{name: a, image: a, securityContext: {privileged: true}}]}`, ``, privileged, nil},
		{"WH-154: privileged, not allowed", `spec: {initContainers: [{name: i, image: i, securityContext: {privileged: true}}], containers: [{name: a, image: a, securityContext: {privileged: true}}, {name: b, image: b, securityContext: {privileged: false}}]}`,
			``, unprivileged, []string{"t.spec.initContainers[0].securityContext.privileged: Forbidden", "t.spec.containers[0].securityContext.privileged: Forbidden"}},
		{"WH-154: host processes are as privileged",
			`spec: {os: {name: windows}, hostNetwork: true, securityContext: {windowsOptions: {hostProcess: true}}, containers: [{name: a, image: a, securityContext: {windowsOptions: {hostProcess: true}}}]}`,
			``, unprivileged, []string{"t.spec.securityContext.windowsOptions.hostProcess: Forbidden", "t.spec.containers[0].securityContext.windowsOptions.hostProcess: Forbidden"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			given := parse[corev1.PodTemplateSpec](t, "{"+c.given+"}")
			var old *corev1.PodTemplateSpec
			if c.old != "" {
				old = parse[corev1.PodTemplateSpec](t, "{"+c.old+"}")
			}
			before := given.DeepCopy()
			errs := podtemplate.Validate(given, old, c.opts, field.NewPath("t"))
			var got []string
			for _, err := range errs {
				got = append(got, err.Field+": "+err.Type.String())
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("%s\n%v", diff, errs)
			}
			if diff := cmp.Diff(before, given); diff != "" {
				t.Errorf("the template was changed:\n%s", diff)
			}
		})
	}
}
