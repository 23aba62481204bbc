package timings

import (
	"math"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// MaxTime is the longest time that a Sketch distinguishes, about 68.7 s. Longer times count as MaxTime.
const MaxTime = 1<<36 - 1

// digits is the number of significant decimal digits of a time in a Sketch. There are 128 buckets or more in each power
// of two.
const digits = 2

// Sketch is the distribution of many times, a histogram with buckets of relative width 1/128. Times below 256 ns are exact.
// It occupies about 30 KB. The zero Sketch is not valid: use NewSketch. One goroutine at a time may change it.
type Sketch struct{ h *hdrhistogram.Histogram }

// NewSketch returns an empty sketch, or one of the given times.
func NewSketch(times ...time.Duration) *Sketch {
	s := &Sketch{hdrhistogram.New(1, MaxTime, digits)}
	for _, d := range times {
		s.Record(d)
	}
	return s
}

// Record adds a time. It allocates nothing.
func (s *Sketch) Record(d time.Duration) {
	_ = s.h.RecordValue(int64(min(max(d, 0), MaxTime))) // within the range, so it fails only after 2^63 times
}

// Merge adds the times of another sketch. The result equals that of recording all times in one sketch.
func (s *Sketch) Merge(o *Sketch) {
	if o != nil {
		s.h.Merge(o.h)
	}
}

// Count returns the number of times.
func (s *Sketch) Count() int64 { return s.h.TotalCount() }

// Quantile returns the longest time of the bucket of the ceil(q·n)-th of n times in ascending order, and of the first for
// q = 0. It is at most 1/128 above that time, and never below. It is 0 for an empty sketch.
func (s *Sketch) Quantile(q float64) time.Duration {
	n := float64(s.Count())
	rank := max(1, math.Ceil(q*n-slack))
	return time.Duration(s.h.ValueAtPercentile(100 * rank / max(1, n))) // which rounds to the nearest rank
}

// slack is what a product of a share and a count may exceed a whole number by, from rounding.
const slack = 1e-9

// Mean returns the mean of the middles of the buckets, which is within 1/256 of the mean of the times, in whole
// nanoseconds. It is 0 for an empty sketch.
func (s *Sketch) Mean() time.Duration { return time.Duration(math.Round(s.h.Mean())) }

// bucket is a number of times that a Sketch does not distinguish.
type bucket struct {
	least int64 // shortest time of the bucket, ns
	count int64
}

// buckets returns the buckets that are not empty, ascending.
func (s *Sketch) buckets() (list []bucket) {
	for _, b := range s.h.Distribution() {
		if b.Count > 0 {
			list = append(list, bucket{b.From, b.Count})
		}
	}
	return list
}
