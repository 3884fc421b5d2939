package cloneset_test

import (
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/flotilla-k8s/flotilla/shared/api/apps/v1beta1"
	"github.com/flotilla-k8s/flotilla/shared/gates"
	"github.com/flotilla-k8s/flotilla/webhook/cloneset"
)

type change = func(*v1beta1.CloneSet)

func rolling(modify func(*v1beta1.RollingUpdateCloneSetStrategy)) change {
	return func(s *v1beta1.CloneSet) { modify(s.Spec.UpdateStrategy.RollingUpdate) }
}

func limits(unavailable, surge string) change {
	return rolling(func(r *v1beta1.RollingUpdateCloneSetStrategy) {
		r.MaxUnavailable, r.MaxSurge = new(intstr.Parse(unavailable)), new(intstr.Parse(surge))
	})
}

func all(changes ...change) change {
	return func(s *v1beta1.CloneSet) {
		for _, c := range changes {
			c(s)
		}
	}
}

func world() cloneset.World {
	return cloneset.World{Gates: gates.Default(), AllowPrivileged: true}
}

// fields returns "field: type" of each error.
func fields(errs field.ErrorList) []string {
	var all []string
	for _, err := range errs {
		all = append(all, err.Field+": "+err.Type.String())
	}
	return all
}

func TestValidateCreate(t *testing.T) {
	for _, c := range []struct {
		name   string
		change change
		want   []string
	}{
		{"CS-30: the least that defaulting completes is valid", func(*v1beta1.CloneSet) {}, nil},
		{"CS-29: name", func(s *v1beta1.CloneSet) { s.Name = "Shop" }, []string{"metadata.name: Invalid value"}},
		{"CS-30: negative replicas", func(s *v1beta1.CloneSet) { s.Spec.Replicas = new(int32(-1)) }, []string{"spec.replicas: Invalid value"}},
		{"CS-30: no selector", func(s *v1beta1.CloneSet) { s.Spec.Selector = nil }, []string{"spec.selector: Required value"}},
		{"CS-30: empty selector", func(s *v1beta1.CloneSet) { s.Spec.Selector = &metav1.LabelSelector{} }, []string{"spec.selector: Required value"}},
		{"CS-30: invalid selector", func(s *v1beta1.CloneSet) {
			s.Spec.Selector = &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "app", Operator: "Near"}}}
		}, []string{"spec.selector.matchExpressions[0].operator: Invalid value"}},
		{"CS-30: selector that does not match the template", func(s *v1beta1.CloneSet) { s.Spec.Template.Labels = map[string]string{"app": "other"} },
			[]string{"spec.template.metadata.labels: Invalid value"}},

		{"CS-31: no container", func(s *v1beta1.CloneSet) { s.Spec.Template.Spec.Containers = nil },
			[]string{"spec.template.spec.containers: Required value"}},
		{"CS-31: a mount of a claim template is valid", all(claim("data"), mount("data")), nil},
		{"CS-31: a mount of nothing", mount("data"), []string{"spec.template.spec.containers[0].volumeMounts[0].name: Not found"}},
		{"CS-31: a volume of the name of a claim", all(claim("data"), func(s *v1beta1.CloneSet) {
			s.Spec.Template.Spec.Volumes = []corev1.Volume{{Name: "data"}}
		}), []string{"spec.volumeClaimTemplates[0].metadata.name: Duplicate value"}},
		{"CS-31: two claims of a name", all(claim("data"), claim("data")), []string{"spec.volumeClaimTemplates[1].metadata.name: Duplicate value"}},
		{"CS-31: a claim that cannot name a volume", claim("My.Data"), []string{"spec.volumeClaimTemplates[0].metadata.name: Invalid value"}},
		{"CS-32: restartPolicy", func(s *v1beta1.CloneSet) { s.Spec.Template.Spec.RestartPolicy = "Never" },
			[]string{"spec.template.spec.restartPolicy: Unsupported value"}},
		{"CS-32: activeDeadlineSeconds", func(s *v1beta1.CloneSet) { s.Spec.Template.Spec.ActiveDeadlineSeconds = new(int64(5)) },
			[]string{"spec.template.spec.activeDeadlineSeconds: Forbidden"}},

		{"CS-33: a name twice in podsToDelete", func(s *v1beta1.CloneSet) { s.Spec.ScaleStrategy.PodsToDelete = []string{"a", "b", "a"} },
			[]string{"spec.scaleStrategy.podsToDelete[2]: Duplicate value"}},
		{"CS-33, C-4: a pod of somebody else", func(s *v1beta1.CloneSet) { s.Spec.ScaleStrategy.PodsToDelete = []string{"gone", "foreign"} },
			[]string{"spec.scaleStrategy.podsToDelete[1]: Invalid value"}},

		{"CS-34: unknown type", func(s *v1beta1.CloneSet) { s.Spec.UpdateStrategy.Type = "ReCreate" }, []string{"spec.updateStrategy.type: Unsupported value"}},
		{"CS-34: unknown policy", rolling(func(r *v1beta1.RollingUpdateCloneSetStrategy) { r.PodUpdatePolicy = "InPlace" }),
			[]string{"spec.updateStrategy.rollingUpdate.podUpdatePolicy: Unsupported value"}},

		{"CS-35: decimal partition", partition("33.3%"), nil},
		{"CS-35: negative partition", partition("-1"), []string{"spec.updateStrategy.rollingUpdate.partition: Invalid value"}},
		{"CS-35: partition as text without percent sign", partitionText("5"), []string{"spec.updateStrategy.rollingUpdate.partition: Invalid value"}},
		{"CS-36: maxUnavailable that is no limit", limits("many", "0"), []string{"spec.updateStrategy.rollingUpdate.maxUnavailable: Invalid value"}},
		{"CS-36: negative maxSurge", limits("1", "-1"), []string{"spec.updateStrategy.rollingUpdate.maxSurge: Invalid value"}},
		{"CS-37: surge with InPlaceOnly", all(limits("1", "10%"), policy("InPlaceOnly")), []string{"spec.updateStrategy.rollingUpdate.maxSurge: Invalid value"}},
		{"CS-37: surge with InPlaceIfPossible", all(limits("1", "10%"), policy("InPlaceIfPossible")), nil},
		{"CS-38: nothing may move", limits("0", "0"), []string{"spec.updateStrategy.rollingUpdate.maxUnavailable: Invalid value"}},
		{"CS-38: nothing may move, in percent", limits("0%", "0%"), []string{"spec.updateStrategy.rollingUpdate.maxUnavailable: Invalid value"}},
		{"CS-38: with no replicas nothing has to", all(limits("0", "0"), func(s *v1beta1.CloneSet) { s.Spec.Replicas = new(int32(0)) }), nil},
		{"C-1: surge alone is enough", limits("0", "1"), nil},
		{"C-2: under OnDelete only maxUnavailable counts", func(s *v1beta1.CloneSet) {
			s.Spec.UpdateStrategy = v1beta1.CloneSetUpdateStrategy{Type: "OnDelete", RollingUpdate: &v1beta1.RollingUpdateCloneSetStrategy{
				MaxUnavailable: new(intstr.FromInt32(0)), Partition: new(intstr.FromString("some")),
			}}
		}, nil},
		{"C-2: maxUnavailable under OnDelete", func(s *v1beta1.CloneSet) {
			s.Spec.UpdateStrategy = v1beta1.CloneSetUpdateStrategy{Type: "OnDelete", RollingUpdate: &v1beta1.RollingUpdateCloneSetStrategy{
				MaxUnavailable: new(intstr.FromString("5")),
			}}
		}, []string{"spec.updateStrategy.rollingUpdate.maxUnavailable: Invalid value"}},

		{"SO-3: both kinds of priority", priority(&v1beta1.UpdatePriorityStrategy{
			OrderPriority:  []v1beta1.UpdatePriorityOrderTerm{{OrderedKey: "a"}},
			WeightPriority: []v1beta1.UpdatePriorityWeightTerm{{Weight: 1, MatchSelector: metav1.LabelSelector{MatchLabels: map[string]string{"a": "b"}}}},
		}), []string{"spec.updateStrategy.rollingUpdate.priorityStrategy: Forbidden"}},
		{"SO-3: weight, selector", priority(&v1beta1.UpdatePriorityStrategy{
			WeightPriority: []v1beta1.UpdatePriorityWeightTerm{{Weight: 101}},
		}), []string{
			"spec.updateStrategy.rollingUpdate.priorityStrategy.weightPriority[0].weight: Invalid value",
			"spec.updateStrategy.rollingUpdate.priorityStrategy.weightPriority[0].matchSelector: Required value",
		}},
		{"SO-3: key", priority(&v1beta1.UpdatePriorityStrategy{OrderPriority: []v1beta1.UpdatePriorityOrderTerm{{}}}),
			[]string{"spec.updateStrategy.rollingUpdate.priorityStrategy.orderPriority[0].orderedKey: Required value"}},
		{"SO-8: key, pair", rolling(func(r *v1beta1.RollingUpdateCloneSetStrategy) {
			r.ScatterStrategy = v1beta1.UpdateScatterStrategy{{Key: "a", Value: "1"}, {Value: "1"}, {Key: "a", Value: "2"}, {Key: "a", Value: "1"}}
		}), []string{
			"spec.updateStrategy.rollingUpdate.scatterStrategy[1].key: Required value",
			"spec.updateStrategy.rollingUpdate.scatterStrategy[3]: Duplicate value",
		}},
		{"CS-41: pre-download in numbers", inPlace(v1beta1.InPlaceUpdateStrategy{ImagePreDownloadParallelism: new(intstr.FromString("3"))}), nil},
		{"CS-41: pre-download out of range", inPlace(v1beta1.InPlaceUpdateStrategy{
			ImagePreDownloadParallelism:         new(intstr.FromString("50%")),
			ImagePreDownloadTimeoutSeconds:      new(int32(-1)),
			ImagePreDownloadMinUpdatedReadyPods: new(int32(-1)),
		}), []string{
			"spec.updateStrategy.rollingUpdate.inPlaceUpdateStrategy.imagePreDownloadParallelism: Invalid value",
			"spec.updateStrategy.rollingUpdate.inPlaceUpdateStrategy.imagePreDownloadTimeoutSeconds: Invalid value",
			"spec.updateStrategy.rollingUpdate.inPlaceUpdateStrategy.imagePreDownloadMinUpdatedReadyPods: Invalid value",
		}},
		{"C-13: grace period", inPlace(v1beta1.InPlaceUpdateStrategy{GracePeriodSeconds: -1}),
			[]string{"spec.updateStrategy.rollingUpdate.inPlaceUpdateStrategy.gracePeriodSeconds: Invalid value"}},
		{"C-13: scaleStrategy.maxUnavailable", func(s *v1beta1.CloneSet) { s.Spec.ScaleStrategy.MaxUnavailable = new(intstr.FromString("5")) },
			[]string{"spec.scaleStrategy.maxUnavailable: Invalid value"}},
		{"C-13: minReadySeconds", func(s *v1beta1.CloneSet) { s.Spec.MinReadySeconds = -1 }, []string{"spec.minReadySeconds: Invalid value"}},
		{"C-13: revisionHistoryLimit", func(s *v1beta1.CloneSet) { s.Spec.RevisionHistoryLimit = new(int32(-1)) },
			[]string{"spec.revisionHistoryLimit: Invalid value"}},
		{"C-13: names in lifecycle hooks", func(s *v1beta1.CloneSet) {
			s.Spec.Lifecycle = &v1beta1.Lifecycle{
				PreDelete:     &v1beta1.LifecycleHook{LabelsHandler: map[string]string{"a b": "c"}},
				InPlaceUpdate: &v1beta1.LifecycleHook{FinalizersHandler: []string{"ok.io/fine", "not fine"}},
				PreNormal:     &v1beta1.LifecycleHook{LabelsHandler: map[string]string{"a": "b c"}},
			}
		}, []string{
			"spec.lifecycle.preDelete.labelsHandler: Invalid value",
			"spec.lifecycle.inPlaceUpdate.finalizersHandler[1]: Invalid value",
			"spec.lifecycle.preNormal.labelsHandler: Invalid value",
		}},
		{"CS-40: negative progress deadline", deadline(-1, 0), []string{"spec.progressDeadlineSeconds: Invalid value"}},
		{"CS-40, C-4: deadline not above minReadySeconds", deadline(10, 10), []string{"spec.progressDeadlineSeconds: Invalid value"}},
		{"CS-40: deadline above minReadySeconds", deadline(11, 10), nil},
		{"CS-40: no deadline", deadline(math.MaxInt32, math.MaxInt32), nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := world()
			w.ForeignPods = sets.New("foreign")
			errs := cloneset.Validate(stored(c.change), nil, w)
			if diff := cmp.Diff(c.want, fields(errs)); diff != "" {
				t.Errorf("%s\n%v", diff, errs)
			}
		})
	}
}

func TestValidateUpdate(t *testing.T) {
	negativeHistory := func(s *v1beta1.CloneSet) { s.Spec.RevisionHistoryLimit = new(int32(-1)) }
	for _, c := range []struct {
		name     string
		old, set change
		want     []string
	}{
		{"CS-42: selector", nil, func(s *v1beta1.CloneSet) {
			s.Spec.Selector.MatchLabels["tier"] = "web"
			s.Spec.Template.Labels["tier"] = "web"
		}, []string{"spec.selector: Forbidden"}},
		{"CS-42: all else may change", nil, func(s *v1beta1.CloneSet) {
			s.Spec.Replicas = new(int32(7))
			s.Spec.Template.Spec.Containers[0].Image = "shop:2"
			s.Spec.UpdateStrategy.Type = "OnDelete"
			s.Spec.MinReadySeconds = 4
			s.Spec.RevisionHistoryLimit = new(int32(3))
			s.Spec.ProgressDeadlineSeconds = new(int32(600))
			s.Spec.Lifecycle = &v1beta1.Lifecycle{}
			s.Spec.ScaleStrategy.EnablePVCReuse = true
			claim("data")(s)
		}, nil},
		{"WH-154: a stored fault does not block other changes", negativeHistory, all(negativeHistory, func(s *v1beta1.CloneSet) {
			s.Spec.Replicas = new(int32(7))
		}), nil},
		{"C-13: a new fault is refused beside a stored one", negativeHistory, all(negativeHistory, func(s *v1beta1.CloneSet) {
			s.Spec.MinReadySeconds = -1
		}), []string{"spec.minReadySeconds: Invalid value"}},
		{"C-13: a fault that changes is refused", negativeHistory, func(s *v1beta1.CloneSet) {
			s.Spec.RevisionHistoryLimit = new(int32(-2))
		}, []string{"spec.revisionHistoryLimit: Invalid value"}},
		{"CS-38: scaled up by /scale, then changed", all(limits("0", "0"), func(s *v1beta1.CloneSet) { s.Spec.Replicas = new(int32(5)) }),
			all(limits("0", "0"), func(s *v1beta1.CloneSet) {
				s.Spec.Replicas = new(int32(5))
				s.Spec.Template.Spec.Containers[0].Image = "shop:2"
			}), nil},
		{"CS-43, C-4: InPlaceOnly takes an image and metadata", policy("InPlaceOnly"), all(policy("InPlaceOnly"), image("shop:2"), func(s *v1beta1.CloneSet) {
			s.Spec.Template.Labels["tier"] = "web"
		}), nil},
		{"CS-43, C-4: InPlaceOnly takes nothing else", policy("InPlaceOnly"), all(policy("InPlaceOnly"), image("shop:2"), env("A")),
			[]string{"spec.template.spec: Forbidden"}},
		{"CS-43: the new policy counts", policy("ReCreate"), all(policy("InPlaceOnly"), env("A")), []string{"spec.template.spec: Forbidden"}},
		{"CS-43: away from InPlaceOnly", policy("InPlaceOnly"), all(policy("InPlaceIfPossible"), env("A")), nil},
		{"CS-43, C-2: OnDelete obeys no policy", policy("InPlaceOnly"), all(policy("InPlaceOnly"), env("A"), func(s *v1beta1.CloneSet) {
			s.Spec.UpdateStrategy.Type = "OnDelete"
		}), nil},
		{"CS-43, IP-19a: a default written out is no change", all(policy("InPlaceOnly"), func(s *v1beta1.CloneSet) {
			s.Spec.Template.Spec.DNSPolicy = ""
		}), policy("InPlaceOnly"), nil},
		{"IP-18: InPlaceOnly takes changed claims", policy("InPlaceOnly"), all(policy("InPlaceOnly"), image("shop:2"), claim("data")), nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			old := stored()
			if c.old != nil {
				c.old(old)
			}
			errs := cloneset.Validate(stored(c.set), old, world())
			if diff := cmp.Diff(c.want, fields(errs)); diff != "" {
				t.Errorf("%s\n%v", diff, errs)
			}
		})
	}
}

func TestEveryErrorSaysWhatIsAllowed(t *testing.T) {
	set := stored(limits("0", "0"), func(s *v1beta1.CloneSet) {
		s.Spec.Template.Labels = map[string]string{"app": "other"}
		s.Spec.UpdateStrategy.RollingUpdate.Partition = new(intstr.FromString("some"))
	})
	text := cloneset.Validate(set, nil, world()).ToAggregate().Error()
	for _, want := range []string{
		`spec.template.metadata.labels: Invalid value: {"app":"other"}: must match spec.selector app=shop`,
		`spec.updateStrategy.rollingUpdate.partition: Invalid value: "some": must be an integer or a percentage such as "25%" or "33.3%"`,
		`spec.updateStrategy.rollingUpdate.maxUnavailable: Invalid value: "0": must allow at least one pod while maxSurge allows none`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("missing %q in\n%s", want, text)
		}
	}
}

func TestPrivilegedContainers(t *testing.T) {
	privileged := stored(func(s *v1beta1.CloneSet) {
		s.Spec.Template.Spec.Containers[0].SecurityContext = &corev1.SecurityContext{Privileged: new(true)}
	})
	if errs := cloneset.Validate(privileged, nil, world()); len(errs) > 0 {
		t.Errorf("WH-154: refused with --allow-privileged: %v", errs)
	}
	want := []string{"spec.template.spec.containers[0].securityContext.privileged: Forbidden"}
	errs := cloneset.Validate(privileged, nil, cloneset.World{Gates: gates.Default()})
	if diff := cmp.Diff(want, fields(errs)); diff != "" {
		t.Errorf("WH-154: %s", diff)
	}
}

// TestFieldsThatMayChange fails when the API gains a field nobody decided about.
func TestFieldsThatMayChange(t *testing.T) {
	decided := sets.New("Selector", // fixed
		"Replicas", "Template", "VolumeClaimTemplates", "ScaleStrategy", "UpdateStrategy", "RevisionHistoryLimit",
		"MinReadySeconds", "Lifecycle", "ProgressDeadlineSeconds")
	for f := range reflect.TypeFor[v1beta1.CloneSetSpec]().Fields() {
		if !decided.Has(f.Name) {
			t.Errorf("CS-42: may spec field %s change?", f.Name)
		}
	}
}

func TestPodsToJudge(t *testing.T) {
	naming := func(names ...string) change {
		return func(s *v1beta1.CloneSet) { s.Spec.ScaleStrategy.PodsToDelete = names }
	}
	if got := cloneset.PodsToJudge(stored(naming("a", "b")), nil); !cmp.Equal(got, []string{"a", "b"}) {
		t.Errorf("CS-33: on create %v", got)
	}
	if got := cloneset.PodsToJudge(stored(naming("a", "b")), stored(naming("b", "c"))); !cmp.Equal(got, []string{"a"}) {
		t.Errorf("CS-33: on update %v", got)
	}
}

func TestInPlaceOnlyNamesWhatChanged(t *testing.T) {
	old := stored(policy("InPlaceOnly"))
	text := cloneset.Validate(stored(policy("InPlaceOnly"), env("MODE")), old, world()).ToAggregate().Error()
	if want := "spec.template.spec.containers[app].env was added"; !strings.Contains(text, want) {
		t.Errorf("C-5: missing %q in %q", want, text)
	}
}

func image(name string) change {
	return func(s *v1beta1.CloneSet) { s.Spec.Template.Spec.Containers[0].Image = name }
}

func env(name string) change {
	return func(s *v1beta1.CloneSet) {
		s.Spec.Template.Spec.Containers[0].Env = []corev1.EnvVar{{Name: name, Value: "x"}}
	}
}

func claim(name string) change {
	return func(s *v1beta1.CloneSet) {
		s.Spec.VolumeClaimTemplates = append(s.Spec.VolumeClaimTemplates, corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Name: name}})
	}
}

func mount(name string) change {
	return func(s *v1beta1.CloneSet) {
		s.Spec.Template.Spec.Containers[0].VolumeMounts = []corev1.VolumeMount{{Name: name, MountPath: "/data"}}
	}
}

func partition(text string) change {
	return rolling(func(r *v1beta1.RollingUpdateCloneSetStrategy) { r.Partition = new(intstr.Parse(text)) })
}

func partitionText(text string) change {
	return rolling(func(r *v1beta1.RollingUpdateCloneSetStrategy) { r.Partition = new(intstr.FromString(text)) })
}

func policy(p v1beta1.PodUpdateStrategyType) change {
	return rolling(func(r *v1beta1.RollingUpdateCloneSetStrategy) { r.PodUpdatePolicy = p })
}

func priority(p *v1beta1.UpdatePriorityStrategy) change {
	return rolling(func(r *v1beta1.RollingUpdateCloneSetStrategy) { r.PriorityStrategy = p })
}

func inPlace(strategy v1beta1.InPlaceUpdateStrategy) change {
	return all(policy("InPlaceIfPossible"), rolling(func(r *v1beta1.RollingUpdateCloneSetStrategy) { r.InPlaceUpdateStrategy = &strategy }))
}

func deadline(seconds, minReady int32) change {
	return func(s *v1beta1.CloneSet) {
		s.Spec.ProgressDeadlineSeconds = &seconds
		s.Spec.MinReadySeconds = minReady
	}
}
