// Package plan decides what the daemon reports of the containers of a pod, from values alone: the pod,
// and what the runtime says of its containers.
package plan

import (
	"cmp"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/flotilla-k8s/flotilla/daemon/cri"
	"github.com/flotilla-k8s/flotilla/shared/api/wire"
	"github.com/flotilla-k8s/flotilla/shared/containerhash"
	"github.com/flotilla-k8s/flotilla/shared/podstate"
)

// World is everything the decision about one pod needs.
type World struct {
	Pod *corev1.Pod
	// Runtime is the scheme of the runtime's container IDs.
	Runtime string
	// Containers of the pod as the runtime lists them, of any kind, in any order.
	Containers []cri.Container
	// WithEnv says that hashes of env values from metadata are reported (M-6).
	WithEnv bool
	// EnvHashes holds the env hashes that were read in this pass, by bare container ID.
	EnvHashes map[string]uint64
}

// Outcome is what to write.
type Outcome struct {
	// Value of the annotation.
	Value string
	// Write is false when the annotation says the same already, or when there is nothing to say.
	Write bool
}

// Compute returns what the annotation of a pod should say. An entry whose container ID has not changed
// stays as it is, but for an env hash that was missing (M-7). Source: IP-80, M-1 to M-7, M-20.
func Compute(w World) (Outcome, error) {
	// What cannot be decoded is worth nothing to anybody and is replaced.
	old, decodeErr := wire.GetRuntimeContainersMeta(w.Pod)
	next := wire.RuntimeContainersMeta{}
	for _, p := range w.pairs() {
		entry, err := w.entry(p, old)
		if err != nil {
			return Outcome{}, err
		}
		next.Containers = append(next.Containers, entry)
	}
	if len(next.Containers) == 0 {
		return Outcome{}, nil
	}
	if decodeErr == nil && old != nil && slices.Equal(old.Containers, next.Containers) {
		return Outcome{}, nil
	}
	value, err := next.Format()
	if err != nil {
		return Outcome{}, err
	}
	return Outcome{Value: value, Write: true}, nil
}

// Unread is a container whose environment has to be read from the runtime.
type Unread struct {
	// Spec of the container in the pod.
	Spec *corev1.Container
	// ID is the bare container ID.
	ID string
}

// EnvToRead lists the containers whose env hash is neither reported yet nor the same for any
// environment. Each container ID is read once in its life (M-12, M-13).
func EnvToRead(w World) []Unread {
	if !w.WithEnv {
		return nil
	}
	old, err := wire.GetRuntimeContainersMeta(w.Pod)
	if err != nil {
		old = nil // it is replaced, so everything is read again
	}
	var unread []Unread
	for _, p := range w.pairs() {
		known := old.Container(p.spec.Name)
		reported := known != nil && known.ContainerID == cri.FullID(w.Runtime, p.found.ID) && known.Hashes.ExtractedEnvFromMetadataHash != 0
		if !reported && len(containerhash.References(p.spec)) > 0 {
			unread = append(unread, Unread{Spec: p.spec, ID: p.found.ID})
		}
	}
	return unread
}

// pair is a container of the spec and the newest one that the runtime has for it.
type pair struct {
	spec  *corev1.Container
	found cri.Container
}

// pairs goes by the order of the container statuses, which leave out init and ephemeral containers. A
// container that the spec or the runtime does not know is left out (M-2).
func (w World) pairs() []pair {
	var pairs []pair
	for i := range w.Pod.Status.ContainerStatuses {
		name := w.Pod.Status.ContainerStatuses[i].Name
		spec := specOf(w.Pod, name)
		found, ok := newest(w.Containers, name)
		if spec != nil && ok {
			pairs = append(pairs, pair{spec: spec, found: found})
		}
	}
	return pairs
}

func (w World) entry(p pair, old *wire.RuntimeContainersMeta) (wire.RuntimeContainerMeta, error) {
	entry := wire.RuntimeContainerMeta{
		Name:         p.spec.Name,
		ContainerID:  cri.FullID(w.Runtime, p.found.ID),
		RestartCount: p.found.RestartCount,
		Hashes:       wire.RuntimeContainerHashes{PlainHash: p.found.PlainHash},
	}
	if known := old.Container(p.spec.Name); known != nil && known.ContainerID == entry.ContainerID {
		entry = *known
	}
	if !w.WithEnv || entry.Hashes.ExtractedEnvFromMetadataHash != 0 {
		return entry, nil
	}
	if len(containerhash.References(p.spec)) > 0 {
		entry.Hashes.ExtractedEnvFromMetadataHash = w.EnvHashes[p.found.ID]
		return entry, nil
	}
	hash, err := EnvHash(p.spec, nil)
	entry.Hashes.ExtractedEnvFromMetadataHash = hash
	return entry, err
}

// EnvHash returns the hash of the env values from metadata that a container holds (M-11). A name that
// its environment lacks counts as empty.
func EnvHash(container *corev1.Container, env map[string]string) (uint64, error) {
	hash, err := containerhash.EnvValues(container, func(name string) string { return env[name] })
	if err != nil {
		return 0, fmt.Errorf("hashing env: %w", err)
	}
	return hash, nil
}

// newest returns the container of a name that was created last (M-3).
func newest(containers []cri.Container, name string) (cri.Container, bool) {
	var best cri.Container
	found := false
	for _, c := range containers {
		if c.Name == name && (!found || compareAge(c, best) > 0) {
			best, found = c, true
		}
	}
	return best, found
}

// compareAge orders by creation; the rest only makes the order of a list irrelevant.
func compareAge(a, b cri.Container) int {
	return cmp.Or(cmp.Compare(a.CreatedAt, b.CreatedAt), cmp.Compare(a.RestartCount, b.RestartCount), cmp.Compare(a.ID, b.ID))
}

func specOf(pod *corev1.Pod, name string) *corev1.Container {
	i := slices.IndexFunc(pod.Spec.Containers, func(c corev1.Container) bool { return c.Name == name })
	if i < 0 {
		return nil
	}
	return &pod.Spec.Containers[i]
}

// UpdatingInPlace reports whether an in-place update of the pod is going on (M-25).
func UpdatingInPlace(pod *corev1.Pod) bool {
	condition := podstate.Condition(pod, wire.InPlaceUpdateReady)
	return condition != nil && condition.Status == corev1.ConditionFalse
}
