package convert_test

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/flotilla-k8s/flotilla/shared/api/apps/v1alpha1"
	"github.com/flotilla-k8s/flotilla/shared/api/apps/v1beta1"
	"github.com/flotilla-k8s/flotilla/shared/api/wire"
)

// hubOnly has settings for which v1alpha1 has no words, or only roundabout ones.
func hubOnly() object {
	return object{
		"scaleStrategy": object{"enablePVCReuse": true, "excludePreparingDelete": true},
		"updateStrategy": object{"type": "OnDelete", "rollingUpdate": object{
			"podUpdatePolicy": "InPlaceOnly", "maxUnavailable": int64(2), "partition": int64(1),
			"inPlaceUpdateStrategy": object{"imagePreDownloadTimeoutSeconds": int64(60)},
		}},
	}
}

func TestConversionByAPIServer(t *testing.T) {
	c := startCluster(t)

	t.Run("WH-130: get and update as v1alpha1 keep what only v1beta1 says", func(t *testing.T) {
		c.create(t, c.cloneSet("update", hub, hubOnly()))
		before := c.get(t, "update", hub)

		view := c.get(t, "update", spoke)
		if got := view.GetLabels()[wire.LabelScalingExcludePreparingDelete]; got != "true" {
			t.Errorf("v1alpha1 shows label %q", got)
		}
		field(view.Object, "spec")["replicas"] = int64(9)
		if err := c.Update(t.Context(), view); err != nil {
			t.Fatal(err)
		}

		field(before.Object, "spec")["replicas"] = int64(9)
		expectSame(t, before, c.get(t, "update", hub))
	})

	t.Run("CS-45, CS-46: Go types of v1alpha1 write, those of v1beta1 read", func(t *testing.T) {
		c.create(t, c.cloneSet("typed", spoke, object{
			"updateStrategy": object{"type": "InPlaceIfPossible", "partition": "40%"},
		}))
		var old v1alpha1.CloneSet
		key := client.ObjectKey{Namespace: c.namespace, Name: "typed"}
		if err := c.Get(t.Context(), key, &old); err != nil {
			t.Fatal(err)
		}
		old.Spec.ScaleStrategy.DisablePVCReuse = true
		if err := c.Update(t.Context(), &old); err != nil {
			t.Fatal(err)
		}
		var stored v1beta1.CloneSet
		if err := c.Get(t.Context(), key, &stored); err != nil {
			t.Fatal(err)
		}
		rolling := stored.Spec.UpdateStrategy.RollingUpdate
		if rolling == nil || rolling.PodUpdatePolicy != v1beta1.InPlaceIfPossiblePodUpdateStrategyType ||
			rolling.Partition.String() != "40%" || stored.Spec.ScaleStrategy.EnablePVCReuse {
			t.Errorf("got %+v, %+v", rolling, stored.Spec.ScaleStrategy)
		}
	})

	t.Run("CS-53: fields of a newer template survive", func(t *testing.T) {
		c.create(t, c.cloneSet("newer", spoke, nil))
		c.merge(t, "newer", object{"spec": object{"minReadySeconds": int64(3)}})
		template := field(c.get(t, "newer", hub).Object, "spec", "template", "spec")
		container := template["containers"].([]any)[0].(object)
		if container["newSetting9"] != "kept" {
			t.Errorf("got %v", container)
		}
	})

	t.Run("list: both versions, of objects written in either", func(t *testing.T) {
		c := c.elsewhere(t)
		c.create(t, c.cloneSet("a", spoke, nil))
		c.create(t, c.cloneSet("b", hub, hubOnly()))
		for _, version := range []string{hub, spoke} {
			list := &unstructured.UnstructuredList{}
			list.SetGroupVersionKind(schema.FromAPIVersionAndKind(version, "CloneSetList"))
			if err := c.List(t.Context(), list, client.InNamespace(c.namespace)); err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, item := range list.Items {
				got = append(got, item.GetAPIVersion()+" "+item.GetName())
			}
			if diff := cmp.Diff([]string{version + " a", version + " b"}, got); diff != "" {
				t.Error(diff)
			}
		}
	})

	t.Run("watch: each version sees the writes of the other", func(t *testing.T) {
		c := c.elsewhere(t)
		alpha := c.watch(t, &v1alpha1.CloneSetList{})
		beta := c.watch(t, &v1beta1.CloneSetList{})
		c.create(t, c.cloneSet("a", hub, object{"updateStrategy": object{
			"type": "RollingUpdate", "rollingUpdate": object{"podUpdatePolicy": "InPlaceOnly"}}}))
		set := next[*v1alpha1.CloneSet](t, alpha, watch.Added)
		if set.Spec.UpdateStrategy.Type != v1alpha1.InPlaceOnlyCloneSetUpdateStrategyType {
			t.Errorf("v1alpha1 sees type %q", set.Spec.UpdateStrategy.Type)
		}
		next[*v1beta1.CloneSet](t, beta, watch.Added)

		c.merge(t, "a", object{"spec": object{"updateStrategy": object{"partition": "50%"}}})
		next[*v1alpha1.CloneSet](t, alpha, watch.Modified)
		stored := next[*v1beta1.CloneSet](t, beta, watch.Modified)
		if got := stored.Spec.UpdateStrategy.RollingUpdate.Partition.String(); got != "50%" {
			t.Errorf("v1beta1 sees partition %q", got)
		}
	})

	t.Run("patch: merge patches and JSON patches of v1alpha1 fields", func(t *testing.T) {
		c.create(t, c.cloneSet("patch", hub, hubOnly()))
		want := c.get(t, "patch", hub)
		c.merge(t, "patch", object{"spec": object{"updateStrategy": object{"partition": int64(4)}}})
		c.patch(t, "patch", spoke, client.RawPatch(types.JSONPatchType,
			[]byte(`[{"op":"replace","path":"/spec/updateStrategy/maxUnavailable","value":"30%"}]`)))

		rolling := field(want.Object, "spec", "updateStrategy", "rollingUpdate")
		rolling["partition"], rolling["maxUnavailable"] = int64(4), "30%"
		expectSame(t, want, c.get(t, "patch", hub))
	})

	t.Run("patch: taking away the v1alpha1 label turns the v1beta1 field off, nothing else", func(t *testing.T) {
		c.create(t, c.cloneSet("label", hub, hubOnly()))
		want := c.get(t, "label", hub)
		c.merge(t, "label", object{"metadata": object{"labels": object{
			wire.LabelScalingExcludePreparingDelete: nil}}})
		delete(field(want.Object, "spec", "scaleStrategy"), "excludePreparingDelete")
		expectSame(t, want, c.get(t, "label", hub))
	})

	t.Run("apply: managers of both versions share an object", func(t *testing.T) {
		alpha := c.cloneSet("apply", spoke, object{
			"updateStrategy": object{"type": "InPlaceIfPossible", "partition": int64(3)}}).Object
		beta := object{"apiVersion": hub, "kind": "CloneSet",
			"metadata": object{"name": "apply", "namespace": c.namespace},
			"spec": object{"scaleStrategy": object{"excludePreparingDelete": true},
				"updateStrategy": object{"rollingUpdate": object{"maxSurge": int64(2)}}}}
		c.apply(t, "old", throughJSON(t, alpha))
		c.apply(t, "new", throughJSON(t, beta))

		version := c.get(t, "apply", hub).GetResourceVersion()
		c.apply(t, "old", throughJSON(t, alpha))
		c.apply(t, "new", throughJSON(t, beta))
		stored := c.get(t, "apply", hub)
		if stored.GetResourceVersion() != version {
			t.Error("applying the same again wrote")
		}
		want := object{"type": "RollingUpdate", "rollingUpdate": object{
			"podUpdatePolicy": "InPlaceIfPossible", "partition": int64(3), "maxSurge": int64(2)}}
		if diff := cmp.Diff(want, field(stored.Object, "spec", "updateStrategy")); diff != "" {
			t.Errorf("after both:\n%s", diff)
		}

		// What a manager no longer says goes, whichever version it speaks; the other's stays.
		delete(field(alpha, "spec", "updateStrategy"), "partition")
		c.apply(t, "old", throughJSON(t, alpha))
		delete(want["rollingUpdate"].(object), "partition")
		if diff := cmp.Diff(want, field(c.get(t, "apply", hub).Object, "spec", "updateStrategy")); diff != "" {
			t.Errorf("after the old manager let go of partition:\n%s", diff)
		}

		// A field of one manager cannot be taken by another who says something else.
		field(alpha, "spec", "updateStrategy")["maxSurge"] = int64(7)
		err := c.Apply(t.Context(), client.ApplyConfigurationFromUnstructured(
			&unstructured.Unstructured{Object: throughJSON(t, alpha)}), client.FieldOwner("old"))
		if !apierrors.IsConflict(err) {
			t.Errorf("got %v", err)
		}
	})

	for version, target := range map[string]client.Object{"v1alpha1": &v1alpha1.CloneSet{}, "v1beta1": &v1beta1.CloneSet{}} {
		t.Run("CS-4: scale through "+version, func(t *testing.T) {
			name := "scale-" + version
			c.create(t, c.cloneSet(name, hub, hubOnly()))
			c.mergeStatus(t, name, hub, object{"status": status(2, "app=web")})
			before := c.get(t, name, hub)

			target.SetNamespace(c.namespace)
			target.SetName(name)
			scale := &autoscalingv1.Scale{}
			if err := c.SubResource("scale").Get(t.Context(), target, scale); err != nil {
				t.Fatal(err)
			}
			if scale.Spec.Replicas != 5 || scale.Status.Replicas != 2 || scale.Status.Selector != "app=web" {
				t.Errorf("got %+v %+v", scale.Spec, scale.Status)
			}
			scale.Spec.Replicas = 11
			if err := c.SubResource("scale").Update(t.Context(), target, client.WithSubResourceBody(scale)); err != nil {
				t.Fatal(err)
			}
			field(before.Object, "spec")["replicas"] = int64(11)
			expectSame(t, before, c.get(t, name, hub))
		})
	}

	t.Run("CS-50: a status written as v1alpha1 leaves the spec alone", func(t *testing.T) {
		c.create(t, c.cloneSet("status", hub, hubOnly()))
		before := c.get(t, "status", hub)
		c.mergeStatus(t, "status", spoke, object{"status": status(3, "app=web")})
		after := c.get(t, "status", hub)
		if before.GetGeneration() != after.GetGeneration() {
			t.Errorf("generation went from %d to %d", before.GetGeneration(), after.GetGeneration())
		}
		before.Object["status"] = status(3, "app=web")
		expectSame(t, before, after)
	})
}

func status(replicas int64, selector string) object {
	return object{
		"replicas": replicas, "readyReplicas": int64(0), "availableReplicas": int64(0),
		"updatedReplicas": replicas, "updatedReadyReplicas": int64(0), "labelSelector": selector,
	}
}

// elsewhere returns the same cluster with a namespace of its own.
func (c cluster) elsewhere(t *testing.T) cluster {
	t.Helper()
	c.namespace = server.Namespace(t)
	return c
}

// merge patches an object as v1alpha1.
func (c cluster) merge(t *testing.T, name string, change object) {
	t.Helper()
	c.patch(t, name, spoke, client.RawPatch(types.MergePatchType, encode(t, change)))
}

func (c cluster) patch(t *testing.T, name, version string, patch client.Patch) {
	t.Helper()
	if err := c.Patch(t.Context(), c.named(name, version), patch); err != nil {
		t.Fatalf("patching %s as %s: %v", name, version, err)
	}
}

func (c cluster) mergeStatus(t *testing.T, name, version string, change object) {
	t.Helper()
	patch := client.RawPatch(types.MergePatchType, encode(t, change))
	if err := c.Status().Patch(t.Context(), c.named(name, version), patch); err != nil {
		t.Fatalf("patching the status of %s as %s: %v", name, version, err)
	}
}

func (c cluster) named(name, version string) *unstructured.Unstructured {
	obj := &unstructured.Unstructured{}
	obj.SetGroupVersionKind(schema.FromAPIVersionAndKind(version, "CloneSet"))
	obj.SetNamespace(c.namespace)
	obj.SetName(name)
	return obj
}

func (c cluster) watch(t *testing.T, list client.ObjectList) watch.Interface {
	t.Helper()
	w, err := c.Watch(t.Context(), list, client.InNamespace(c.namespace))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Stop)
	return w
}

// next waits for the next event and returns its object.
func next[T client.Object](t *testing.T, w watch.Interface, kind watch.EventType) T {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	select {
	case event := <-w.ResultChan():
		obj, ok := event.Object.(T)
		if event.Type != kind || !ok {
			t.Fatalf("got %s of %T, want %s", event.Type, event.Object, kind)
		}
		return obj
	case <-ctx.Done():
		t.Fatalf("no %s event within %s", kind, patience)
	}
	return *new(T)
}

// expectSame compares all but what every write changes.
func expectSame(t *testing.T, want, got *unstructured.Unstructured) {
	t.Helper()
	for _, obj := range []*unstructured.Unstructured{want, got} {
		obj.SetManagedFields(nil)
		obj.SetResourceVersion("")
		obj.SetGeneration(0)
	}
	if diff := cmp.Diff(want.Object, got.Object); diff != "" {
		t.Errorf("the stored object is not as it should be:\n%s", diff)
	}
}
