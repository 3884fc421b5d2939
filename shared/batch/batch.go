// Package batch knows how to carry out many API calls of one pass side by side.
package batch

import "sync"

// Parallelism bounds how many calls of one pass run at a time. It is what one client's share of the
// API server's priority levels carries without queueing for long, and bounds the memory of a pass.
const Parallelism = 32

// All calls do for 0 to n-1, at most Parallelism at a time, and returns the errors by index; a failed
// call does not hold up the others.
func All(n int, do func(i int) error) []error {
	errs := make([]error, n)
	var group sync.WaitGroup
	slots := make(chan struct{}, Parallelism)
	for i := range n {
		slots <- struct{}{}
		group.Go(func() {
			defer func() { <-slots }()
			errs[i] = do(i)
		})
	}
	group.Wait()
	return errs
}

// SlowStart calls do for 0 to n-1 in batches of 1, 2, 4 and so on up to Parallelism. A batch with an
// error is the last one: what fails once, like a create over quota, usually fails for all. It returns
// how many calls were made and the errors by index. Source: the slow start of the Kubernetes job and
// replica set controllers, CS-80.
func SlowStart(n int, do func(i int) error) (called int, errs []error) {
	for size := 1; called < n; size = min(2*size, Parallelism) {
		size = min(size, n-called)
		start := called
		results := All(size, func(i int) error { return do(start + i) })
		errs = append(errs, results...)
		called += size
		for _, err := range results {
			if err != nil {
				return called, errs
			}
		}
	}
	return called, errs
}
