package reference

import (
	"fmt"
	"math"
)

// Real is the type of results.
type Real interface{ ~float32 | ~float64 }

// MaxAbsDiff returns the largest |got[i] - want[i]| and its first index. If exactly one of both is NaN, the
// difference is +Inf. It returns 0, -1 for empty slices. Both slices must have the same length.
func MaxAbsDiff[T Real](got []T, want []float64) (largest float64, at int) {
	at = -1
	for i := range want {
		if d := absDiff(float64(got[i]), want[i]); at < 0 || d > largest {
			largest, at = d, i
		}
	}
	return largest, at
}

// Compare returns nil if got is within tolerance of want everywhere. Otherwise the error contains the name of the
// array and the places.
func Compare[T Real](name string, got []T, want []float64, tolerance float64) error {
	return compare(name, got, want, absolute(tolerance), index)
}

// CompareRelative is Compare with a tolerance relative to each value of want. It is for sums without cancellation,
// which have the same relative accuracy at all magnitudes.
func CompareRelative[T Real](name string, got []T, want []float64, share float64) error {
	finite := func(w float64) float64 { return min(share*math.Abs(w), math.MaxFloat64) } // no number is within the tolerance of infinity
	return compare(name, got, want, finite, index)
}

// CompareImage is Compare for the pixels of an image.
func CompareImage(name string, got []float32, want *Image, tolerance float64) error {
	return compare(name, got, want.Pix, absolute(tolerance), func(i int) string {
		return fmt.Sprintf("[%d][%d]", i/want.Cols, i%want.Cols)
	})
}

func absolute(tolerance float64) func(want float64) float64 {
	return func(float64) float64 { return tolerance }
}

func index(i int) string { return fmt.Sprintf("[%d]", i) }

// compare takes the tolerance as a function of the wanted value, and a function that names a place.
func compare[T Real](name string, got []T, want []float64, tolerance func(want float64) float64, place func(int) string) error {
	if len(got) != len(want) {
		return fmt.Errorf("%s has %d elements, the reference has %d", name, len(got), len(want))
	}
	first, wrong := -1, 0
	for i := range want {
		if d := absDiff(float64(got[i]), want[i]); d != 0 && !(d <= tolerance(want[i])) {
			if wrong++; first < 0 {
				first = i
			}
		}
	}
	if wrong == 0 {
		return nil
	}
	largest, at := MaxAbsDiff(got, want)
	return fmt.Errorf("%s differs from the CPU reference in %d of %d elements: first at %s, got %v, want %v within %.3g; most at %s, by %.3g",
		name, wrong, len(want), place(first), got[first], want[first], tolerance(want[first]), place(at), largest)
}

// absDiff returns |got - want|: 0 for two equal infinities or two NaNs, +Inf if only one is NaN.
func absDiff(got, want float64) float64 {
	switch {
	case got == want, math.IsNaN(got) && math.IsNaN(want):
		return 0
	case math.IsNaN(got) || math.IsNaN(want):
		return math.Inf(1)
	}
	return math.Abs(got - want)
}
