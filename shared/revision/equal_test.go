package revision_test

import (
	"encoding/json"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/flotilla-k8s/flotilla/shared/revision"
)

// plainTemplate says only what a user says.
const plainTemplate = `{"metadata":{"labels":{"app":"web"}},"spec":{"serviceAccountName":"robot","hostNetwork":true,"containers":[
 {"name":"main","image":"web:1","ports":[{"containerPort":80}],
  "env":[{"name":"POD","valueFrom":{"fieldRef":{"fieldPath":"metadata.name"}}}],
  "readinessProbe":{"httpGet":{"port":80}},"livenessProbe":{"grpc":{"port":81}},
  "lifecycle":{"preStop":{"httpGet":{"port":80}}},
  "resources":{"limits":{"cpu":"1000m"}}}],
 "volumes":[{"name":"none"},{"name":"c","configMap":{"name":"c"}},{"name":"s","secret":{"secretName":"s"}},
  {"name":"h","hostPath":{"path":"/h"}},{"name":"d","downwardAPI":{"items":[{"path":"l","fieldRef":{"fieldPath":"metadata.labels"}}]}},
  {"name":"p","projected":{"sources":[{"serviceAccountToken":{"path":"t"}},{"downwardAPI":{"items":[{"path":"l","fieldRef":{"fieldPath":"metadata.labels"}}]}}]}},
  {"name":"e","ephemeral":{"volumeClaimTemplate":{"spec":{"accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"1Gi"}}}}}},
  {"name":"i","image":{"reference":"data:1"}},{"name":"r","rbd":{"monitors":["m"],"image":"i"}},
  {"name":"q","iscsi":{"targetPortal":"a","iqn":"b","lun":0}},
  {"name":"o","scaleIO":{"gateway":"g","system":"s","secretRef":{"name":"n"}}},
  {"name":"z","azureDisk":{"diskName":"d","diskURI":"u"}}]}}`

// filledTemplate is the same with everything that any library or API server fills in.
const filledTemplate = `{"metadata":{"creationTimestamp":null,"labels":{"app":"web"}},"spec":{"serviceAccountName":"robot","serviceAccount":"robot",
 "hostNetwork":true,"restartPolicy":"Always","dnsPolicy":"ClusterFirst","schedulerName":"default-scheduler","securityContext":{},
 "terminationGracePeriodSeconds":30,"enableServiceLinks":true,"containers":[
 {"name":"main","image":"web:1","imagePullPolicy":"Always","ports":[{"containerPort":80,"hostPort":80,"protocol":"TCP"}],
  "env":[{"name":"POD","valueFrom":{"fieldRef":{"apiVersion":"v1","fieldPath":"metadata.name"}}}],
  "readinessProbe":{"httpGet":{"port":80,"path":"/","scheme":"HTTP"},"timeoutSeconds":1,"periodSeconds":10,"successThreshold":1,"failureThreshold":3},
  "livenessProbe":{"grpc":{"port":81,"service":""},"timeoutSeconds":1,"periodSeconds":10,"successThreshold":1,"failureThreshold":3},
  "lifecycle":{"preStop":{"httpGet":{"port":80,"path":"/","scheme":"HTTP"}}},
  "resources":{"limits":{"cpu":"1"},"requests":{"cpu":"1"}},
  "terminationMessagePath":"/dev/termination-log","terminationMessagePolicy":"File"}],
 "volumes":[{"name":"none","emptyDir":{}},{"name":"c","configMap":{"name":"c","defaultMode":420}},{"name":"s","secret":{"secretName":"s","defaultMode":420}},
  {"name":"h","hostPath":{"path":"/h","type":""}},{"name":"d","downwardAPI":{"defaultMode":420,"items":[{"path":"l","fieldRef":{"apiVersion":"v1","fieldPath":"metadata.labels"}}]}},
  {"name":"p","projected":{"defaultMode":420,"sources":[{"serviceAccountToken":{"path":"t","expirationSeconds":3600}},{"downwardAPI":{"items":[{"path":"l","fieldRef":{"apiVersion":"v1","fieldPath":"metadata.labels"}}]}}]}},
  {"name":"e","ephemeral":{"volumeClaimTemplate":{"metadata":{"creationTimestamp":null},"spec":{"accessModes":["ReadWriteOnce"],"volumeMode":"Filesystem","resources":{"requests":{"storage":"1Gi"}}}}}},
  {"name":"i","image":{"reference":"data:1","pullPolicy":"IfNotPresent"}},{"name":"r","rbd":{"monitors":["m"],"image":"i","pool":"rbd","user":"admin","keyring":"/etc/ceph/keyring"}},
  {"name":"q","iscsi":{"targetPortal":"a","iqn":"b","lun":0,"iscsiInterface":"default"}},
  {"name":"o","scaleIO":{"gateway":"g","system":"s","secretRef":{"name":"n"},"storageMode":"ThinProvisioned","fsType":"xfs"}},
  {"name":"z","azureDisk":{"diskName":"d","diskURI":"u","cachingMode":"ReadWrite","fsType":"ext4","readOnly":false,"kind":"Shared"}}]}}`

func decode(t *testing.T, text string) *corev1.PodTemplateSpec {
	t.Helper()
	out := &corev1.PodTemplateSpec{}
	if err := json.Unmarshal([]byte(text), out); err != nil {
		t.Fatal(err)
	}
	return out
}

func equalTemplates(t *testing.T, a, b *corev1.PodTemplateSpec) bool {
	t.Helper()
	dataA, err := revision.Data(a)
	if err != nil {
		t.Fatal(err)
	}
	dataB, err := revision.Data(b)
	if err != nil {
		t.Fatal(err)
	}
	forth := revision.Equal(stored("a", 1, dataA), stored("b", 1, dataB))
	if back := revision.Equal(stored("b", 1, dataB), stored("a", 1, dataA)); back != forth {
		t.Errorf("Equal is not symmetric: %v and %v", forth, back)
	}
	return forth
}

func TestEqualIgnoresDefaults(t *testing.T) {
	if !equalTemplates(t, decode(t, plainTemplate), decode(t, filledTemplate)) {
		t.Error("P-1: a template differs from itself with defaults")
	}
	for name, data := range map[string]string{
		"without creation time and resources": `{"spec":{"template":{"$patch":"replace","metadata":{},"spec":{"containers":[{"name":"main","image":"web:1"}]}}}}`,
		"with other spacing":                  `{"spec": {"template": {"spec": {"containers": [{"image":"web:1", "name":"main", "resources":{}}]}}}}`,
	} {
		t.Run("IP-19a: "+name, func(t *testing.T) {
			kruise := `{"spec":{"template":{"$patch":"replace","metadata":{"creationTimestamp":null},"spec":{"containers":[{"image":"web:1","name":"main","resources":{}}]}}}}`
			if !revision.Equal(stored("a", 1, []byte(kruise)), stored("b", 1, []byte(data))) {
				t.Error("want equal")
			}
		})
	}
}

func TestEqualSeesWhatUsersChange(t *testing.T) {
	for name, change := range map[string]func(*corev1.PodTemplateSpec){
		"image":           func(p *corev1.PodTemplateSpec) { p.Spec.Containers[0].Image = "web:2" },
		"label":           func(p *corev1.PodTemplateSpec) { p.Labels["app"] = "other" },
		"annotation":      func(p *corev1.PodTemplateSpec) { p.Annotations = map[string]string{"a": ""} },
		"service account": func(p *corev1.PodTemplateSpec) { p.Spec.ServiceAccountName = "other" },
		"grace period":    func(p *corev1.PodTemplateSpec) { p.Spec.TerminationGracePeriodSeconds = new(int64(31)) },
		"pull policy":     func(p *corev1.PodTemplateSpec) { p.Spec.Containers[0].ImagePullPolicy = corev1.PullNever },
		"probe": func(p *corev1.PodTemplateSpec) {
			p.Spec.Containers[0].ReadinessProbe.PeriodSeconds = 11
		},
		"port": func(p *corev1.PodTemplateSpec) {
			p.Spec.Containers[0].ReadinessProbe.HTTPGet.Port = intstr.FromInt32(81)
		},
		"limit": func(p *corev1.PodTemplateSpec) {
			p.Spec.Containers[0].Resources.Limits[corev1.ResourceCPU] = resource.MustParse("1001m")
		},
		"volume mode": func(p *corev1.PodTemplateSpec) { p.Spec.Volumes[1].ConfigMap.DefaultMode = new(int32(0)) },
	} {
		t.Run("RV-2: "+name, func(t *testing.T) {
			changed := decode(t, plainTemplate)
			change(changed)
			if equalTemplates(t, changed, decode(t, filledTemplate)) {
				t.Error("want different")
			}
		})
	}
}

func TestEqualPullPolicy(t *testing.T) {
	for _, c := range []struct {
		name   string
		image  string
		policy corev1.PullPolicy
		want   bool
	}{
		{"CS-26: Always is the webhook's default for every tag", "web:1", corev1.PullAlways, true},
		{"IP-19a: IfNotPresent is the API server's for a fixed tag", "web:1", corev1.PullIfNotPresent, true},
		{"IP-19a: IfNotPresent is no default for latest", "web:latest", corev1.PullIfNotPresent, false},
		{"IP-19a: nor for no tag", "reg:5000/web", corev1.PullIfNotPresent, false},
		{"IP-19a: but it is for a digest", "web@sha256:0123", corev1.PullIfNotPresent, true},
		{"IP-19a: Never is no default", "web:1", corev1.PullNever, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			build := func(policy corev1.PullPolicy) *corev1.PodTemplateSpec {
				return &corev1.PodTemplateSpec{Spec: corev1.PodSpec{
					Containers: []corev1.Container{{Name: "main", Image: c.image, ImagePullPolicy: policy}}}}
			}
			if got := equalTemplates(t, build(""), build(c.policy)); got != c.want {
				t.Errorf("got %v", got)
			}
		})
	}
}

func TestEqualOfBadData(t *testing.T) {
	good, bad := stored("a", 1, []byte(`{"spec":{"template":{}}}`)), stored("b", 1, []byte("{"))
	if revision.Equal(good, bad) || revision.Equal(bad, good) {
		t.Error("IP-10: undecodable data equals nothing else")
	}
	if !revision.Equal(bad, stored("c", 1, []byte("{"))) {
		t.Error("RV-2: equal bytes are equal")
	}
}
