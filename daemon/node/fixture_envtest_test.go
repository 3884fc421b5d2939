package node_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-logr/logr"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/flotilla-k8s/flotilla/shared/testenv"
)

const (
	systemNamespace = "flotilla-system"
	serviceAccount  = "kruise-daemon"
)

var server = testenv.New()

func TestMain(m *testing.M) {
	ctrl.SetLogger(logr.Discard())
	os.Exit(server.Main(m))
}

// install applies the account, the role and the admission policy that an installation has, so that the
// daemon under test may do what the real one may and no more.
func install(t *testing.T) client.Client {
	t.Helper()
	admin := server.Client(t)
	create(t, admin, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: systemNamespace}})
	for _, file := range []string{"serviceaccount.yaml", "role.yaml", "role-binding.yaml", "node-scope.yaml"} {
		raw, err := os.ReadFile(filepath.Join("../../deploy/base/daemon", file))
		if err != nil {
			t.Fatal(err)
		}
		for document := range strings.SplitSeq(string(raw), "\n---\n") {
			obj := &unstructured.Unstructured{}
			if err := yaml.Unmarshal([]byte(document), &obj.Object); err != nil {
				t.Fatalf("%s: %v", file, err)
			}
			create(t, admin, obj)
		}
	}
	return admin
}

// create makes an object unless another test of the package has made it.
func create(t *testing.T, c client.Client, obj client.Object) {
	t.Helper()
	if err := c.Create(t.Context(), obj); client.IgnoreAlreadyExists(err) != nil {
		t.Fatalf("creating %s: %v", obj.GetName(), err)
	}
}

// nodeFor makes a node for one test.
func nodeFor(t *testing.T, admin client.Client) string {
	t.Helper()
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{GenerateName: "node-"}}
	if err := admin.Create(t.Context(), node); err != nil {
		t.Fatal(err)
	}
	return node.Name
}

// as returns the configuration of the daemon's account with a token like the one that the kubelet of a
// node mounts into the daemon's pod. Without a node the token is bound to nothing.
func as(t *testing.T, admin client.Client, node string) *rest.Config {
	t.Helper()
	request := &authenticationv1.TokenRequest{}
	if node != "" {
		pod := &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{GenerateName: "kruise-daemon-", Namespace: systemNamespace},
			Spec: corev1.PodSpec{
				NodeName: node, ServiceAccountName: serviceAccount,
				Containers: []corev1.Container{{Name: "daemon", Image: "flotilla/daemon:dev"}},
			},
		}
		if err := admin.Create(t.Context(), pod); err != nil {
			t.Fatal(err)
		}
		request.Spec.BoundObjectRef = &authenticationv1.BoundObjectReference{Kind: "Pod", APIVersion: "v1", Name: pod.Name, UID: pod.UID}
	}
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: systemNamespace, Name: serviceAccount}}
	if err := admin.SubResource("token").Create(t.Context(), account, request); err != nil {
		t.Fatalf("requesting a token: %v", err)
	}
	cfg := rest.AnonymousClientConfig(server.Config(t))
	cfg.BearerToken = request.Status.Token
	return cfg
}

// podOn makes a pod of a CloneSet on a node.
func podOn(t *testing.T, admin client.Client, node, namespace, name string, changes ...func(*corev1.Pod)) *corev1.Pod {
	t.Helper()
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: namespace, Name: name, Labels: map[string]string{"l": "1"}, Annotations: map[string]string{"foreign": "1"},
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "apps.kruise.io/v1beta1", Kind: "CloneSet", Name: "web", UID: "set", Controller: new(true)}},
		},
		Spec: corev1.PodSpec{NodeName: node, Containers: []corev1.Container{
			{Name: "main", Image: "i:1", Env: []corev1.EnvVar{{
				Name: "L", ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.labels['l']"}},
			}}},
		}},
	}
	for _, change := range changes {
		change(pod)
	}
	if err := admin.Create(t.Context(), pod); err != nil {
		t.Fatal(err)
	}
	return pod
}

// playKubelet writes what the kubelet says of the container main.
func playKubelet(t *testing.T, admin client.Client, pod *corev1.Pod, containerID string) {
	t.Helper()
	base := pod.DeepCopy()
	pod.Status.Phase = corev1.PodRunning
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{{
		Name: "main", Image: "i:1", ContainerID: containerID, Ready: true,
		State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.Now()}},
	}}
	if err := admin.Status().Patch(t.Context(), pod, client.StrategicMergeFrom(base)); err != nil {
		t.Fatal(err)
	}
}

func annotationPatch(annotation, value string) client.Patch {
	return client.RawPatch("application/strategic-merge-patch+json",
		fmt.Appendf(nil, `{"metadata":{"annotations":{%q:%q}}}`, annotation, value))
}
