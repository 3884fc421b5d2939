package main

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/flotilla-k8s/flotilla/tools/cluster/plan"
	"github.com/flotilla-k8s/flotilla/tools/cluster/process"
	"github.com/flotilla-k8s/flotilla/tools/cluster/registry"
)

func TestRealNodes(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("real nodes need root")
	}
	c := newTool(t, "test-"+strconv.Itoa(os.Getpid()%10000))
	before := hostState(t)
	client := c.up(t.Context(), "--nodes", "2", "--simulated", "1")
	c.must(t.Context(), "load", busyboxArchive(t), "--to", "registry")
	ctx, pods := t.Context(), client.Pods(metav1.NamespaceDefault)
	names := []string{"web-1", "web-2"}
	eachReady := func() error {
		for _, name := range names {
			pod, err := pods.Get(ctx, name, metav1.GetOptions{})
			if err != nil {
				return err
			}
			if err := ready(pod); err != nil {
				return err
			}
			// What the API server remembers of a node that was killed proves nothing.
			if err := get(ctx, "http://"+pod.Status.PodIP+":8080/hostname"); err != nil {
				return err
			}
		}
		return nil
	}
	for i, name := range names {
		if _, err := pods.Create(ctx, webPod(name, fmt.Sprintf("node-%d", i+1)), metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	eventually(t, "pods on both nodes pull their image and get ready", eachReady)
	service, err := client.Services(metav1.NamespaceDefault).Create(ctx, &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Name: "web"},
		Spec: corev1.ServiceSpec{
			Selector: map[string]string{"app": "web"},
			Ports:    []corev1.ServicePort{{Port: 80, TargetPort: intstr.FromInt32(8080)}},
		},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	address := service.Spec.ClusterIP
	eventually(t, "the Service answers the host", func() error { return get(ctx, "http://"+address+"/hostname") })
	for _, machine := range []string{"node-1", "node-2"} {
		eventually(t, "the Service answers "+machine, func() error {
			_, err := c.run(t.Context(), "exec", machine, "--", "/bin/busybox", "nc", "-w", "2", address, "80", "-e", "/bin/true")
			return err
		})
	}

	t.Run("an image is swapped in a running pod", func(t *testing.T) {
		patch := `{"spec":{"containers":[{"name":"web","image":"flotilla/cluster-test:two"}]}}`
		if _, err := pods.Patch(ctx, "web-2", types.StrategicMergePatchType, []byte(patch), metav1.PatchOptions{}); err != nil {
			t.Fatal(err)
		}
		eventually(t, "the container runs the other image", func() error {
			pod, err := pods.Get(ctx, "web-2", metav1.GetOptions{})
			if err != nil {
				return err
			}
			status := pod.Status.ContainerStatuses[0]
			if status.RestartCount != 1 || !strings.HasSuffix(status.Image, ":two") {
				return fmt.Errorf("restarts %d, image %s", status.RestartCount, status.Image)
			}
			return ready(pod)
		})
	})

	t.Run("up mends what was killed", func(t *testing.T) {
		for _, r := range []process.Record{c.pid(plan.ControlPlane, "registry"), c.pid("node-1", plan.Kubelet), c.pid("node-2", ".machine")} {
			if err := r.Stop(ctx, 0); err != nil {
				t.Fatal(err)
			}
		}
		c.must(ctx, "up")
		eventually(t, "pods get ready again", eachReady)
	})

	t.Run("up goes on after everything ended, as when the host restarts", func(t *testing.T) {
		if err := c.pid(plan.ControlPlane, ".machine").Stop(ctx, 0); err != nil {
			t.Fatal(err)
		}
		c.must(ctx, "up")
		eventually(t, "pods get ready again", eachReady)
		eventually(t, "the Service answers the host", func() error { return get(ctx, "http://"+address+"/hostname") })
	})

	t.Run("up reports what it cannot change", func(t *testing.T) {
		if _, err := c.run(t.Context(), "up", "--nodes", "3"); err == nil || !strings.Contains(err.Error(), "--nodes=2, not 3") {
			t.Errorf("got %v", err)
		}
	})

	block := c.block()
	inside := c.processes()
	if len(inside) < 15 {
		t.Errorf("only %d processes of the cluster were found, the check below would prove little", len(inside))
	}
	c.must(t.Context(), "down")
	for _, r := range inside {
		if r.Alive() {
			t.Errorf("process %d survived", r.PID)
		}
	}
	c.nothingLeft(block, before)
}

// busyboxArchive writes two tags of an image with the host's static busybox, which differ.
func busyboxArchive(t *testing.T) string {
	t.Helper()
	var images []registry.Image
	for _, tag := range []string{"one", "two"} {
		program := filepath.Join(t.TempDir(), "busybox")
		content, err := os.ReadFile("/bin/busybox")
		if err != nil {
			t.Fatal(err)
		}
		// What follows the end of an executable is ignored, and makes another digest.
		if err := os.WriteFile(program, append(content, tag...), 0o755); err != nil {
			t.Fatal(err)
		}
		image, err := registry.FromProgram("flotilla/cluster-test:"+tag, program)
		if err != nil {
			t.Fatal(err)
		}
		images = append(images, image)
	}
	path := filepath.Join(t.TempDir(), "images.tar")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := registry.WriteArchive(file, images); err != nil {
		t.Fatal(err)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

func webPod(name, node string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"app": "web"}},
		Spec: corev1.PodSpec{
			NodeSelector:                  map[string]string{corev1.LabelHostname: node},
			TerminationGracePeriodSeconds: new(int64(1)),
			Containers: []corev1.Container{{
				Name: "web", Image: "flotilla/cluster-test:one",
				Args: []string{"httpd", "-f", "-p", "8080", "-h", "/proc/sys/kernel"},
				ReadinessProbe: &corev1.Probe{
					PeriodSeconds: 1,
					ProbeHandler:  corev1.ProbeHandler{TCPSocket: &corev1.TCPSocketAction{Port: intstr.FromInt32(8080)}},
				},
			}},
		},
	}
}

func get(ctx context.Context, url string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	client := http.Client{Timeout: 2 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	if err := response.Body.Close(); err != nil {
		return err
	}
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("status %s", response.Status)
	}
	return nil
}

// hostState is what the host shows of network filters and namespaces.
func hostState(t *testing.T) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "iptables-save").Output()
	if err != nil {
		return "" // not installed yet
	}
	var rules []string
	for line := range strings.Lines(string(out)) {
		if !strings.HasPrefix(line, "#") {
			rules = append(rules, line)
		}
	}
	return strings.Join(rules, "")
}

// nothingLeft checks that the host is as before the cluster.
func (c tool) nothingLeft(block int, before string) {
	t := c.t
	t.Helper()
	if left := c.processes(); len(left) > 0 {
		t.Errorf("processes are left: %v", left)
	}
	mounts, err := filepath.Glob("/proc/[0-9]*/mountinfo")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range mounts {
		if content, err := os.ReadFile(file); err == nil && bytes.Contains(content, []byte(c.dir)) {
			t.Errorf("%s still has a mount of the cluster", file)
		}
	}
	links, err := net.Interfaces()
	if err != nil {
		t.Fatal(err)
	}
	for _, link := range links {
		addresses, err := link.Addrs()
		if err != nil {
			continue // it went meanwhile
		}
		for _, own := range addresses {
			if strings.HasPrefix(own.String(), plan.NetworkOf(block).Host().String()+"/") {
				t.Errorf("interface %s is left", link.Name)
			}
		}
	}
	err = filepath.WalkDir("/sys/fs/cgroup", func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.IsDir() && entry.Name() == "flotilla-"+c.name {
			t.Errorf("control group %s is left", path)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	if after := hostState(t); before != "" && after != before {
		t.Errorf("rules of the host have changed from\n%s\nto\n%s", before, after)
	}
	if _, err := os.Stat(c.dir); !os.IsNotExist(err) {
		t.Errorf("data is left in %s", c.dir)
	}
	if out, err := c.run(t.Context(), "down"); err != nil {
		t.Errorf("down a second time: %v %s", err, out)
	}
}
