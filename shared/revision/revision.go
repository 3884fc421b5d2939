package revision

import (
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"maps"
	"strconv"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/rand"

	"github.com/flotilla-k8s/flotilla/shared/api/wire"
)

// maxOwnerNameLength leaves room for the separator and the hash in a name of at most 253 characters
// and is wire (RV-3).
const maxOwnerNameLength = 223

var errNoTemplate = errors.New("no pod template in spec.template")

// Params is what a new revision is made of.
type Params struct {
	// Owner is the workload; the revision lives in its namespace and is controlled by it.
	Owner    metav1.Object
	OwnerGVK schema.GroupVersionKind
	Template *corev1.PodTemplateSpec
	// Revision is the revision number.
	Revision int64
	// CollisionCount is the one of the workload's status; a nil count there is 0 here (RV-3).
	CollisionCount int32
	// Annotations are copied to the revision (RV-4).
	Annotations map[string]string
}

// New returns the revision of a template as it is to be created: data, name, labels and controller
// reference. It fails only if the template cannot be encoded. Source: RV-1, RV-3, RV-4.
func New(p Params) (*appsv1.ControllerRevision, error) {
	data, err := Data(p.Template)
	if err != nil {
		return nil, err
	}
	hash := Hash(data, p.CollisionCount)
	labels := map[string]string{}
	maps.Copy(labels, p.Template.Labels)
	labels[wire.LabelRevisionHash] = hash
	return &appsv1.ControllerRevision{
		ObjectMeta: metav1.ObjectMeta{
			Name:            name(p.Owner.GetName(), hash),
			Namespace:       p.Owner.GetNamespace(),
			Labels:          labels,
			Annotations:     maps.Clone(p.Annotations),
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(p.Owner, p.OwnerGVK)},
		},
		Data:     runtime.RawExtension{Raw: data},
		Revision: p.Revision,
	}, nil
}

// Hash returns the short hash of revision data: FNV-1 32 of the bytes followed by the decimal
// collision count, in decimal, in the alphabet that is safe in names. Source: RV-3.
func Hash(data []byte, collisionCount int32) string {
	hasher := fnv.New32()
	// Writing to a hash never fails.
	_, _ = hasher.Write(data)
	_, _ = hasher.Write(strconv.AppendInt(nil, int64(collisionCount), 10))
	return rand.SafeEncodeString(strconv.FormatUint(uint64(hasher.Sum32()), 10))
}

func name(owner, hash string) string {
	return owner[:min(len(owner), maxOwnerNameLength)] + "-" + hash
}

// Template returns the pod template that a revision stores.
func Template(r *appsv1.ControllerRevision) (*corev1.PodTemplateSpec, error) {
	var data struct {
		Spec struct {
			Template *corev1.PodTemplateSpec `json:"template"`
		} `json:"spec"`
	}
	if err := json.Unmarshal(r.Data.Raw, &data); err != nil {
		return nil, fmt.Errorf("decoding data of revision %s: %w", r.Name, err)
	}
	if data.Spec.Template == nil {
		return nil, fmt.Errorf("decoding data of revision %s: %w", r.Name, errNoTemplate)
	}
	return data.Spec.Template, nil
}

// ShortHash returns the part of a revision's name after the last dash, or all of it without one.
func ShortHash(name string) string {
	return name[strings.LastIndexByte(name, '-')+1:]
}

// Matches tells whether the labels of a pod name a revision, either by its full name or by its short
// hash. Source: RV-11.
func Matches(labels map[string]string, revisionName string) bool {
	label := labels[wire.LabelRevision]
	if label == "" || revisionName == "" {
		return false
	}
	return label == revisionName || ShortHash(label) == ShortHash(revisionName)
}
