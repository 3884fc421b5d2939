package cloneset

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	appsv1beta1 "github.com/flotilla-k8s/flotilla/shared/api/apps/v1beta1"
)

// kind is what owner references of new objects name (CS-18).
func kind() schema.GroupVersionKind { return appsv1beta1.GroupVersion.WithKind("CloneSet") }

// ownerIndex finds pods, claims and revisions by the UID of the CloneSet that owns them.
const ownerIndex = "flotilla.cloneset-owner"

// ownerUIDs is the index function: the UIDs of all owners that are CloneSets, of whatever version the
// reference was written with.
func ownerUIDs(obj client.Object) []string {
	var uids []string
	for _, ref := range obj.GetOwnerReferences() {
		if isCloneSetRef(ref) {
			uids = append(uids, string(ref.UID))
		}
	}
	return uids
}

func isCloneSetRef(ref metav1.OwnerReference) bool {
	gv, err := schema.ParseGroupVersion(ref.APIVersion)
	return err == nil && gv.Group == kind().Group && ref.Kind == kind().Kind
}

// ownedBy lists what a set owns.
func ownedBy(set *appsv1beta1.CloneSet) []client.ListOption {
	return []client.ListOption{
		client.InNamespace(set.Namespace),
		client.MatchingFields{ownerIndex: string(set.UID)},
	}
}
