// Command workloads runs the controllers of the workload kinds.
package main

import (
	"os"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/flotilla-k8s/flotilla/operators/workloads/cloneset"
	appsv1beta1 "github.com/flotilla-k8s/flotilla/shared/api/apps/v1beta1"
	"github.com/flotilla-k8s/flotilla/shared/gates"
	"github.com/flotilla-k8s/flotilla/shared/operator"
)

func main() {
	os.Exit(operator.Main(operator.App{
		Name:    "kruise-workloads",
		Schemes: []func(*runtime.Scheme) error{appsv1beta1.AddToScheme},
		Hooks: []operator.Hook{
			{Name: "mcloneset.kb.io"},
			{Name: "vcloneset.kb.io"},
			{Name: "mpod.kb.io", Gates: []gates.Gate{gates.PodWebhook}},
		},
		Controllers: []operator.Controller{
			cloneset.Controller(),
		},
		Cache: narrowCache,
	}))
}
