package voyage

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/flotilla-k8s/flotilla/tools/loadgen"
)

// Live shows how a leg is going: the time since its change, each pod in a line, and the load.
func Live(elapsed time.Duration, pods []Pod, load *loadgen.Stats) string {
	var out bytes.Buffer
	fmt.Fprintf(&out, "  after %s\n", seconds(elapsed))
	w := tabwriter.NewWriter(&out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "  POD\tNODE\tIP\tIMAGE\tREADY\tRESTARTS\tSTATE")
	for _, p := range pods {
		fmt.Fprintf(w, "  %s\t%s\t%s\t%s\t%s\t%d\t%s\n", p.Name, p.Node, p.IP, p.Tag(), yesNo(p.Ready), p.Restarts, state(p))
	}
	flush(w)
	if load != nil {
		fmt.Fprintf(&out, "  requests: %s\n", loadLine(*load))
	}
	return out.String()
}

// Change tells in a line what became different about a pod, or is empty if nothing that matters did.
func Change(before, now Pod) string {
	var parts []string
	if before.Tag() != now.Tag() {
		parts = append(parts, fmt.Sprintf("image %s -> %s", before.Tag(), now.Tag()))
	}
	if before.Ready != now.Ready {
		if now.Ready {
			parts = append(parts, "ready")
		} else {
			parts = append(parts, "out of service")
		}
	}
	if before.Restarts != now.Restarts {
		parts = append(parts, fmt.Sprintf("restart %d", now.Restarts))
	}
	if before.Trouble != now.Trouble && now.Trouble != "" {
		parts = append(parts, now.Trouble)
	}
	if len(parts) == 0 {
		return ""
	}
	return now.Name + ": " + strings.Join(parts, ", ")
}

// Summary shows for each pod whether it stayed what it was and how long it took in each leg, and under it
// the load and the comparison with recreation.
func (v Voyage) Summary() string {
	var out bytes.Buffer
	w := tabwriter.NewWriter(&out, 0, 0, 2, ' ', 0)
	head := []string{"POD", "UID", "IP", "NODE", "RESTARTS"}
	for _, e := range v.Journal.legs {
		head = append(head, strings.ToUpper(e.Leg.Name))
	}
	fmt.Fprintln(w, strings.Join(head, "\t"))
	for _, name := range slices.Sorted(maps.Keys(v.Journal.first)) {
		fmt.Fprintln(w, strings.Join(v.row(name), "\t"))
	}
	flush(w)
	fmt.Fprintln(&out, "Columns on the right: seconds from the change of the CloneSet until the pod was ready again.")
	if v.Load != nil {
		fmt.Fprintf(&out, "Requests during all of it: %s\n", loadLine(*v.Load))
	}
	v.compare(&out)
	return out.String()
}

// row is one pod's line of the summary.
func (v Voyage) row(name string) []string {
	first, now := v.Journal.first[name], v.Journal.pods[name]
	if now.Name == "" {
		return []string{name, "gone", "", first.Node, ""}
	}
	cells := []string{name, same(first.UID, now.UID), same(first.IP, now.IP), same(first.Node, now.Node), fmt.Sprint(now.Restarts)}
	for _, e := range v.Journal.legs {
		took, changed := e.Pods[name]
		switch {
		case changed:
			cells = append(cells, fmt.Sprintf("%.1f", took.Seconds()))
		case e.Reached[name]:
			cells = append(cells, "down")
		default:
			cells = append(cells, "-")
		}
	}
	return cells
}

// compare puts the update in place beside the recreation of the same set.
func (v Voyage) compare(out io.Writer) {
	if v.Recreate.Took == 0 || len(v.Journal.legs) == 0 || v.Journal.legs[0].Took == 0 {
		return
	}
	batches := (Replicas + MaxUnavailable - 1) / MaxUnavailable
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "\nv1 -> v2 of %d pods\tTIME\tREQUESTS LOST\tPODS\n", Replicas)
	fmt.Fprintf(w, "in place\t%s\t%s\tthe same, with their addresses; each was drained for %d s before its swap, in %d batches\n",
		seconds(v.Journal.legs[0].Took), lost(v.Load), DrainSeconds, batches)
	fmt.Fprintf(w, "ReCreate\t%s\t%s\tnew ones, with new addresses, scheduled anew; nothing drains them\n",
		seconds(v.Recreate.Took), lost(v.Recreate.Load))
	flush(w)
}

// lost tells how many requests failed.
func lost(load *loadgen.Stats) string {
	if load == nil {
		return "-"
	}
	return fmt.Sprintf("%d of %d", load.Failed, load.Sent)
}

func loadLine(s loadgen.Stats) string {
	text := fmt.Sprintf("%d sent, %d failed", s.Sent, s.Failed)
	if s.Missed > 0 {
		text += fmt.Sprintf(", %d not sent in time", s.Missed)
	}
	var versions []string
	for _, version := range slices.Sorted(maps.Keys(s.Versions)) {
		versions = append(versions, fmt.Sprintf("%s %d", version, s.Versions[version]))
	}
	if len(versions) > 0 {
		text += "; answered by " + strings.Join(versions, ", ")
	}
	return text
}

// same marks what an update in place must not change.
func same(before, now string) string {
	if before != now {
		return "CHANGED to " + now
	}
	short, _, _ := strings.Cut(now, "-")
	if strings.Count(now, "-") == 4 {
		return short + " same"
	}
	return now + " same"
}

// state is the most telling word about a pod.
func state(p Pod) string { return cmp.Or(p.Trouble, p.State) }

func yesNo(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.1f s", d.Seconds()) }

func byName(a, b Pod) int { return cmp.Compare(a.Name, b.Name) }

// flush writes into a buffer, which cannot fail.
func flush(w *tabwriter.Writer) { _ = w.Flush() }
