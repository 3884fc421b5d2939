package voyage_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/flotilla-k8s/flotilla/tools/demo/voyage"
	"github.com/flotilla-k8s/flotilla/tools/loadgen"
)

// start is when every test begins.
func start() time.Time { return time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC) }

func image(tag string) string { return "flotilla/test-server:" + tag }

func pod(i int, tag string) voyage.Pod {
	return voyage.Pod{
		Name: fmt.Sprintf("web-%d", i), UID: fmt.Sprintf("uid-%d", i), IP: fmt.Sprintf("10.0.0.%d", i), Node: "node-1",
		Image: image(tag), Running: "docker.io/" + image(tag), Ready: true, State: "Normal",
	}
}

func fleet() []voyage.Pod {
	var pods []voyage.Pod
	for i := range voyage.Replicas {
		pods = append(pods, pod(i, "v1"))
	}
	return pods
}

// swap plays one pod's update in place: out of service, swapped, and ready again if the image is any good.
func swap(j *voyage.Journal, p voyage.Pod, tag string, at time.Time) {
	p.Ready, p.State = false, "Updating"
	j.See(p, at)
	p.Image = image(tag)
	j.See(p, at.Add(3*time.Second))
	p.Running, p.Restarts = "docker.io/"+image(tag), p.Restarts+1
	j.See(p, at.Add(4*time.Second))
	if tag != voyage.BrokenTag {
		p.Ready, p.State = true, "Normal"
		j.See(p, at.Add(5*time.Second))
	}
}

func leg(name string) voyage.Leg {
	for _, l := range voyage.Legs(true) {
		if l.Name == name {
			return l
		}
	}
	panic("no leg " + name)
}

func TestWholeRollOut(t *testing.T) {
	j := voyage.NewJournal(fleet())
	j.Begin(leg("v2"), start())
	if j.Arrived() {
		t.Error("arrived before anything happened")
	}
	for i, p := range fleet() {
		swap(j, p, "v2", start().Add(time.Duration(i)*5*time.Second))
	}
	if !j.Arrived() {
		t.Error("not arrived with all pods updated")
	}
	v := voyage.Voyage{Journal: j, Load: &loadgen.Stats{Sent: 10, Answered: 10}}
	if broken := v.Broken(); len(broken) > 0 {
		t.Errorf("broken promises %q", broken)
	}
	e := j.Entries()[0]
	if e.Took != 30*time.Second || e.Pods["web-0"] != 5*time.Second || e.Pods["web-5"] != 30*time.Second {
		t.Errorf("took %v, pods %v", e.Took, e.Pods)
	}
}

func TestCanaryStopsAtThePartition(t *testing.T) {
	pods := fleet()
	j := voyage.NewJournal(pods)
	j.Begin(leg("canary"), start())
	swap(j, pods[0], "v3", start())
	if j.Arrived() {
		t.Error("arrived with one of two pods")
	}
	swap(j, pods[1], "v3", start())
	if !j.Arrived() || j.Overshot() {
		t.Errorf("with two pods: arrived %v, overshot %v", j.Arrived(), j.Overshot())
	}
	swap(j, pods[2], "v3", start())
	if j.Arrived() || !j.Overshot() {
		t.Errorf("with three pods: arrived %v, overshot %v", j.Arrived(), j.Overshot())
	}
}

func TestBrokenImageStopsTheRollOut(t *testing.T) {
	pods := fleet()
	j := voyage.NewJournal(pods)
	j.Begin(leg("broken"), start())
	for i := range voyage.MaxUnavailable {
		swap(j, pods[i], voyage.BrokenTag, start())
	}
	if !j.Arrived() {
		t.Error("not arrived with the allowed number of broken pods")
	}
	if broken := (voyage.Voyage{Journal: j}).Broken(); len(broken) > 0 {
		t.Errorf("broken promises %q", broken)
	}
	swap(j, pods[2], voyage.BrokenTag, start())
	want := []string{
		"3 pods out of service at one time, 2 are allowed",
		"the broken image reached 3 pods, 2 are allowed",
	}
	if diff := cmp.Diff(want, voyage.Voyage{Journal: j}.Broken()); diff != "" {
		t.Errorf("broken promises (-want +have):\n%s", diff)
	}
}

func TestBrokenPromises(t *testing.T) {
	cases := []struct {
		name string
		do   func(j *voyage.Journal, v *voyage.Voyage)
		want string
	}{
		{"another UID", func(j *voyage.Journal, _ *voyage.Voyage) {
			p := pod(0, "v1")
			p.UID = "other"
			j.See(p, start())
		}, "pod web-0 is not the same any more"},
		{"another address", func(j *voyage.Journal, _ *voyage.Voyage) {
			p := pod(0, "v1")
			p.IP = "10.0.0.99"
			j.See(p, start())
		}, "pod web-0 is not the same any more"},
		{"another node", func(j *voyage.Journal, _ *voyage.Voyage) {
			p := pod(0, "v1")
			p.Node = "node-2"
			j.See(p, start())
		}, "pod web-0 is not the same any more"},
		{"an image that is changed in service", func(j *voyage.Journal, _ *voyage.Voyage) { j.See(pod(0, "v2"), start()) },
			"the image of pod web-0 was changed while it was in service"},
		{"a deleted pod", func(j *voyage.Journal, _ *voyage.Voyage) { j.Gone("web-0") }, "pod web-0 was deleted"},
		{"a new pod", func(j *voyage.Journal, _ *voyage.Voyage) { j.See(pod(7, "v1"), start()) }, "pod web-7 was made"},
		{"a leg that fails", func(j *voyage.Journal, _ *voyage.Voyage) { j.Fail("it took too long") }, "it took too long"},
		{"a failed request", func(_ *voyage.Journal, v *voyage.Voyage) {
			v.Load = &loadgen.Stats{Sent: 9, Answered: 8, Failed: 1, LastError: "reset"}
		}, "1 of 9 requests failed"},
		{"no request at all", func(_ *voyage.Journal, v *voyage.Voyage) { v.Load = &loadgen.Stats{} }, "no request was answered"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			v := voyage.Voyage{Journal: voyage.NewJournal(fleet())}
			c.do(v.Journal, &v)
			if have := v.Broken(); len(have) != 1 || !strings.Contains(have[0], c.want) {
				t.Errorf("broken promises %q, want one with %q", have, c.want)
			}
		})
	}
}

func TestLegsWithoutARealKubelet(t *testing.T) {
	for _, l := range voyage.Legs(false) {
		if l.Stuck {
			t.Errorf("leg %s needs an image that fails, and no simulated node has one", l.Name)
		}
	}
}

func TestChange(t *testing.T) {
	before := pod(0, "v1")
	now := before
	if have := voyage.Change(before, now); have != "" {
		t.Errorf("no change is told as %q", have)
	}
	now.Image, now.Ready, now.Restarts, now.Trouble = image("broken"), false, 1, "CrashLoopBackOff"
	want := "web-0: image v1 -> broken, out of service, restart 1, CrashLoopBackOff"
	if have := voyage.Change(before, now); have != want {
		t.Errorf("change is %q, want %q", have, want)
	}
}

func TestTables(t *testing.T) {
	pods := fleet()
	j := voyage.NewJournal(pods)
	j.Begin(leg("v2"), start())
	for _, p := range pods {
		swap(j, p, "v2", start())
	}
	stats := loadgen.Stats{Sent: 100, Answered: 100, Versions: map[string]int{"v2": 40, "v1": 60}}
	live := voyage.Live(7*time.Second, j.Pods(), &stats)
	for _, want := range []string{"after 7.0 s", "web-5  node-1  10.0.0.5  v2     yes    1         Normal", "100 sent, 0 failed; answered by v1 60, v2 40"} {
		if !strings.Contains(live, want) {
			t.Errorf("no %q in\n%s", want, live)
		}
	}
	summary := voyage.Voyage{Journal: j, Load: &stats, Recreate: voyage.Recreation{Took: 20 * time.Second, Load: &loadgen.Stats{Sent: 50, Failed: 3}}}.Summary()
	for _, want := range []string{"web-0  uid-0 same  10.0.0.0 same  node-1 same  1         5.0", "in place            5.0 s   0 of 100", "ReCreate            20.0 s  3 of 50"} {
		if !strings.Contains(summary, want) {
			t.Errorf("no %q in\n%s", want, summary)
		}
	}
}
