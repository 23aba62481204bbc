package optimizer

import "github.com/reprise-gpu/reprise/internal/huge"

const (
	// maxGrowth is the largest factor by which a list grows. Otherwise a trace whose beginning is not
	// typical would reserve far too much.
	maxGrowth = 16
	// minRoom is the capacity of a list after its first growth, in items.
	minRoom = 64
)

// extend returns list with capacity for n more items, which belong to the last of the first `done` operations
// out of `total`. A list that must grow is given room for all operations, extrapolated from the items of the
// operations done. append would copy the millions of dependencies of a long trace a dozen times.
func extend[T any](list []T, n, done, total int) []T {
	need := len(list) + n
	if need <= cap(list) {
		return list
	}
	foreseen := float64(need) / float64(done) * float64(total) * 17 / 16
	grown := huge.Make[T](max(need, minRoom, int(min(foreseen, maxGrowth*float64(need)))))
	return grown[:copy(grown, list)]
}

// trimmed returns list in an array that is at most a quarter longer than it.
func trimmed[T any](list []T) []T {
	if cap(list) <= minRoom || cap(list) <= len(list)+len(list)/4 {
		return list
	}
	exact := huge.Make[T](len(list))
	copy(exact, list)
	return exact
}
