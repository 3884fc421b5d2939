// Package inplace knows how a pod goes from one revision of its template to another without being
// recreated.
//
// It has no knowledge of any workload kind and answers three questions with pure functions: Compute
// says whether two revisions differ in nothing but what a running pod can take, and what that is;
// Apply and Next say how the pod has to look after the next step; Completed says whether the
// containers run what the pod asks for, and if not, what is being waited for. Engine sends what Apply
// and Next say, and holds nothing between two calls: all that is needed to go on stands on the pod.
//
// The writes of one image update are
//
//	1  pods/status  InPlaceUpdateReady=False, Ready=False                    (Start)
//	2  pods         revision label, state annotation, lifecycle, the images  (Start)
//	3  pods/status  InPlaceUpdateReady=True, lifecycle                       (Refresh, once completed)
//
// with one more write of pods at the end of a grace period and for each further batch of containers
// with launch priorities. Every write is bound to the version of the pod that was looked at, so that
// a stale pod makes a conflict and nothing else, and no image is ever written to a pod that has the
// readiness gate before the API server has returned it with the condition False: drain before swap.
package inplace
