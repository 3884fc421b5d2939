package podtemplate_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"github.com/flotilla-k8s/flotilla/webhook/podtemplate"
)

func parse[T any](t *testing.T, text string) *T {
	t.Helper()
	object := new(T)
	if err := yaml.UnmarshalStrict([]byte(text), object); err != nil {
		t.Fatal(err)
	}
	return object
}

// The defaults of a pod and of a container that say nothing.
const (
	podDefaults       = `dnsPolicy: ClusterFirst, restartPolicy: Always, schedulerName: default-scheduler, securityContext: {}, terminationGracePeriodSeconds: 30`
	messageDefaults   = `terminationMessagePath: /dev/termination-log, terminationMessagePolicy: File`
	containerDefaults = `imagePullPolicy: Always, ` + messageDefaults
)

func TestDefault(t *testing.T) {
	for _, c := range []struct {
		name        string
		given, want string // fields of the pod spec
		hostPorts   bool
	}{
		{"CS-25: an empty pod", ``, podDefaults, false},
		{"CS-25: what is given stays",
			`dnsPolicy: None, restartPolicy: Never, schedulerName: mine, securityContext: {runAsUser: 1}, terminationGracePeriodSeconds: 0`,
			`dnsPolicy: None, restartPolicy: Never, schedulerName: mine, securityContext: {runAsUser: 1}, terminationGracePeriodSeconds: 0`, false},
		{"CS-26: containers are always pulled, whatever the tag",
			`containers: [{name: a, image: "a:1"}, {name: b, image: b}, {name: c, image: "c:1", imagePullPolicy: Never}]`,
			podDefaults + `, containers: [{name: a, image: "a:1", ` + containerDefaults + `}, {name: b, image: b, ` + containerDefaults + `},
				{name: c, image: "c:1", imagePullPolicy: Never, ` + messageDefaults + `}]`, false},
		{"CS-26: init containers are pulled by tag",
			`initContainers: [{name: a, image: "a:1"}, {name: b, image: b}, {name: c, image: "c:latest"}, {name: d, image: "d@sha256:` + digest + `"}, {name: e, image: "E e"}]`,
			podDefaults + `, initContainers: [
				{name: a, image: "a:1", imagePullPolicy: IfNotPresent, ` + messageDefaults + `},
				{name: b, image: b, imagePullPolicy: Always, ` + messageDefaults + `},
				{name: c, image: "c:latest", imagePullPolicy: Always, ` + messageDefaults + `},
				{name: d, image: "d@sha256:` + digest + `", imagePullPolicy: IfNotPresent, ` + messageDefaults + `},
				{name: e, image: "E e", imagePullPolicy: IfNotPresent, ` + messageDefaults + `}]`, false},
		{"CS-25: ports, env and quantities",
			`containers: [{name: a, ports: [{containerPort: 80}, {containerPort: 53, protocol: UDP}],
				env: [{name: A, value: x}, {name: B, valueFrom: {fieldRef: {fieldPath: metadata.name}}}, {name: C, valueFrom: {configMapKeyRef: {name: c, key: k}}}],
				resources: {limits: {cpu: 100u}}}]`,
			podDefaults + `, containers: [{name: a, ports: [{containerPort: 80, protocol: TCP}, {containerPort: 53, protocol: UDP}],
				env: [{name: A, value: x}, {name: B, valueFrom: {fieldRef: {apiVersion: v1, fieldPath: metadata.name}}}, {name: C, valueFrom: {configMapKeyRef: {name: c, key: k}}}],
				resources: {limits: {cpu: 1m}}, ` + containerDefaults + `}]`, false},
		{"CS-25: probes and hooks, but no service of a gRPC probe",
			`containers: [{name: a, livenessProbe: {httpGet: {port: 80}}, readinessProbe: {grpc: {port: 81}}, startupProbe: {periodSeconds: 1, tcpSocket: {port: 82}},
				lifecycle: {postStart: {exec: {command: [x]}}, preStop: {httpGet: {port: 83}}}}]`,
			podDefaults + `, containers: [{name: a,
				livenessProbe: {httpGet: {port: 80, path: /, scheme: HTTP}, timeoutSeconds: 1, periodSeconds: 10, successThreshold: 1, failureThreshold: 3},
				readinessProbe: {grpc: {port: 81}, timeoutSeconds: 1, periodSeconds: 10, successThreshold: 1, failureThreshold: 3},
				startupProbe: {tcpSocket: {port: 82}, timeoutSeconds: 1, periodSeconds: 1, successThreshold: 1, failureThreshold: 3},
				lifecycle: {postStart: {exec: {command: [x]}}, preStop: {httpGet: {port: 83, path: /, scheme: HTTP}}}, ` + containerDefaults + `}]`, false},
		{"CS-25: volumes",
			`volumes: [{name: a}, {name: b, secret: {secretName: s}}, {name: c, configMap: {name: m}}, {name: d, hostPath: {path: /x}},
				{name: e, downwardAPI: {items: [{path: p, fieldRef: {fieldPath: metadata.name}}]}},
				{name: f, projected: {sources: [{serviceAccountToken: {path: t}}, {downwardAPI: {items: [{path: p, fieldRef: {fieldPath: metadata.name}}]}}, {secret: {name: s}}]}}]`,
			podDefaults + `, volumes: [{name: a, emptyDir: {}}, {name: b, secret: {secretName: s, defaultMode: 0644}}, {name: c, configMap: {name: m, defaultMode: 0644}},
				{name: d, hostPath: {path: /x, type: ""}},
				{name: e, downwardAPI: {items: [{path: p, fieldRef: {apiVersion: v1, fieldPath: metadata.name}}], defaultMode: 0644}},
				{name: f, projected: {sources: [{serviceAccountToken: {path: t, expirationSeconds: 3600}},
					{downwardAPI: {items: [{path: p, fieldRef: {apiVersion: v1, fieldPath: metadata.name}}]}}, {secret: {name: s}}], defaultMode: 0644}}]`, false},
		{"CS-28a: other kinds of volume, and what only pods get, are left alone",
			`serviceAccountName: s, containers: [{name: a, resources: {limits: {cpu: "1"}}}], volumes: [{name: a, ephemeral: {volumeClaimTemplate: {spec: {}}}}, {name: b, iscsi: {targetPortal: p, iqn: q, lun: 0}}]`,
			podDefaults + `, serviceAccountName: s, containers: [{name: a, resources: {limits: {cpu: "1"}}, ` + containerDefaults + `}],
				volumes: [{name: a, ephemeral: {volumeClaimTemplate: {spec: {}}}}, {name: b, iscsi: {targetPortal: p, iqn: q, lun: 0}}]`, false},
		{"CS-27: no host ports without the gate", `hostNetwork: true, containers: [{name: a, ports: [{containerPort: 80}]}]`,
			podDefaults + `, hostNetwork: true, containers: [{name: a, ports: [{containerPort: 80, protocol: TCP}], ` + containerDefaults + `}]`, false},
		{"CS-27: host ports with the gate, under host network",
			`hostNetwork: true, containers: [{name: a, ports: [{containerPort: 80}, {containerPort: 81, hostPort: 82}]}]`,
			podDefaults + `, hostNetwork: true, containers: [{name: a, ports: [{containerPort: 80, hostPort: 80, protocol: TCP}, {containerPort: 81, hostPort: 82, protocol: TCP}], ` + containerDefaults + `}]`, true},
		{"CS-27: no host ports without host network", `containers: [{name: a, ports: [{containerPort: 80}]}]`,
			podDefaults + `, containers: [{name: a, ports: [{containerPort: 80, protocol: TCP}], ` + containerDefaults + `}]`, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := parse[corev1.PodTemplateSpec](t, `{spec: {`+c.given+`}}`)
			want := parse[corev1.PodTemplateSpec](t, `{spec: {`+c.want+`}}`)
			for _, pass := range []string{"once", "twice"} {
				podtemplate.Default(got, c.hostPorts)
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("defaulted %s:\n%s", pass, diff)
				}
			}
		})
	}
}

const digest = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

func TestDefaultClaims(t *testing.T) {
	given := parse[[]corev1.PersistentVolumeClaim](t, `[
		{spec: {resources: {requests: {storage: 1G}}}},
		{spec: {resources: {requests: {storage: 500u}, limits: {storage: 1500u}}}, status: {phase: Bound}}]`)
	want := parse[[]corev1.PersistentVolumeClaim](t, `[
		{spec: {resources: {requests: {storage: 1G}}}, status: {phase: Pending}},
		{spec: {resources: {requests: {storage: 1m}, limits: {storage: 2m}}}, status: {phase: Bound}}]`)
	podtemplate.DefaultClaims(*given)
	if diff := cmp.Diff(want, given); diff != "" {
		t.Errorf("CS-25: claims get a phase and whole thousandths, nothing else:\n%s", diff)
	}
}
