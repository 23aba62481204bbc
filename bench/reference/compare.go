package reference

import (
	"fmt"
	"math"
)

// MaxAbsDiff returns the largest |got[i] - want[i]| and the first index that has
// it. A NaN on one side only differs by +Inf. It returns 0, -1 for empty slices;
// the two have the same length.
func MaxAbsDiff(got []float32, want []float64) (largest float64, at int) {
	at = -1
	for i := range want {
		if d := absDiff(got[i], want[i]); at < 0 || d > largest {
			largest, at = d, i
		}
	}
	return largest, at
}

// Compare returns nil when got is within tolerance of want everywhere, and an
// error that says where it is not; name is what it calls the array.
func Compare(name string, got []float32, want []float64, tolerance float64) error {
	return compare(name, got, want, tolerance, func(i int) string { return fmt.Sprintf("[%d]", i) })
}

// CompareImage is Compare for the pixels of an image.
func CompareImage(name string, got []float32, want *Image, tolerance float64) error {
	return compare(name, got, want.Pix, tolerance, func(i int) string {
		return fmt.Sprintf("[%d][%d]", i/want.Cols, i%want.Cols)
	})
}

func compare(name string, got []float32, want []float64, tolerance float64, place func(int) string) error {
	if len(got) != len(want) {
		return fmt.Errorf("%s has %d elements, the reference has %d", name, len(got), len(want))
	}
	first, wrong := -1, 0
	for i := range want {
		if absDiff(got[i], want[i]) > tolerance {
			if wrong++; first < 0 {
				first = i
			}
		}
	}
	if wrong == 0 {
		return nil
	}
	largest, at := MaxAbsDiff(got, want)
	return fmt.Errorf("%s differs from the CPU reference in %d of %d elements: first at %s, got %v, want %v within %v; most at %s, by %.3g",
		name, wrong, len(want), place(first), got[first], want[first], tolerance, place(at), largest)
}

// absDiff is |got - want|, 0 for two equal infinities or two NaNs, +Inf when only
// one is NaN.
func absDiff(got float32, want float64) float64 {
	g := float64(got)
	switch {
	case g == want, math.IsNaN(g) && math.IsNaN(want):
		return 0
	case math.IsNaN(g) || math.IsNaN(want):
		return math.Inf(1)
	}
	return math.Abs(g - want)
}
