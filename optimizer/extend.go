package optimizer

import "github.com/reprise-gpu/reprise/internal/huge"

const (
	// maxGrowth is by which factor a list grows at most. A trace that begins with what it does not repeat would
	// otherwise reserve far too much.
	maxGrowth = 16
	// minRoom is the room of a list that has grown once.
	minRoom = 64
)

// extend returns list with room for n more items, those of the last of the first `done` operations out of `total`. A list that must
// grow gets room for all operations, if those to come have as many items each as those so far. append would copy the
// millions of dependencies of a long trace a dozen times.
func extend[T any](list []T, n, done, total int) []T {
	need := len(list) + n
	if need <= cap(list) {
		return list
	}
	foreseen := float64(need) / float64(done) * float64(total) * 17 / 16
	grown := huge.Make[T](max(need, minRoom, int(min(foreseen, maxGrowth*float64(need)))))
	return grown[:copy(grown, list)]
}

// trimmed returns list in an array that is not much larger than the list.
func trimmed[T any](list []T) []T {
	if cap(list) <= minRoom || cap(list) <= len(list)+len(list)/4 {
		return list
	}
	exact := huge.Make[T](len(list))
	copy(exact, list)
	return exact
}
