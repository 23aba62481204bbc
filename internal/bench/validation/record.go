package validation

import (
	"context"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/reprise-gpu/reprise/device"
)

// Recording is how rows are measured on a device.
type Recording struct {
	// Open opens the device. It is called for each row, so that a row that fails leaves nothing behind. A simulated
	// device runs the given number of blocks of each launch; 0 is all.
	Open func(sample int64) (device.Device, error)
	// Repeats is the number of measurements of a row, whose mean counts. A simulated device needs one.
	Repeats int

	GPU, Profile, Commit, Note string // values of the columns
	Progress                   func(what string, done, total int)
}

// LeftOut is a row that could not be measured.
type LeftOut struct {
	ID     string
	Reason error
}

// Record measures the rows of a set whose ID contains only, and returns new rows. The time, the GPU and the origin of
// a new row are those of the recording. Its ID is that of the old row below the name of the GPU, and its class is
// LaunchClass if the time is under 10 us. Rows that differ in nothing else are measured once. Rows that the device
// cannot run are left out. If ctx is done, Record returns the rows so far and the error of ctx.
func Record(ctx context.Context, s *Set, only string, o Recording) (rows []Row, left []LeftOut, err error) {
	todo := s.launches(only)
	for i, old := range todo {
		if ctx.Err() != nil {
			return rows, left, ctx.Err()
		}
		r, err := s.record(old, &o)
		if err != nil {
			left = append(left, LeftOut{old.ID, err})
		} else {
			rows = append(rows, r)
		}
		if o.Progress != nil {
			o.Progress(old.ID, i+1, len(todo))
		}
	}
	return rows, left, nil
}

// launches returns the first row of each kind of launch.
func (s *Set) launches(only string) (list []*Row) {
	seen := map[string]bool{}
	for i := range s.Rows {
		r := &s.Rows[i]
		key := fmt.Sprintln(r.PTX, r.Entry, r.Grid, r.Block, r.Shared, formatArgs(r), recordable(r.Mode))
		if strings.Contains(r.ID, only) && !seen[key] {
			seen[key] = true
			list = append(list, r)
		}
	}
	return list
}

// recordable returns the mode that stands for one that needs a profiler.
func recordable(m Mode) Mode {
	switch m.Kind {
	case kindSpan:
		return Mode{Kind: kindStream, Launches: 8}
	case kindColdSpan:
		return Mode{Kind: kindCold}
	}
	return m
}

// shortestKernelUS is the time in us below which the launch counts for more than the kernel.
const shortestKernelUS = 10

func (s *Set) record(old *Row, o *Recording) (r Row, err error) {
	r = *old
	r.ID, r.GPU, r.Profile, r.Mode = o.GPU+"/"+old.ID, o.GPU, o.Profile, recordable(old.Mode)
	r.Repo, r.Commit, r.File, r.Note = "", o.Commit, "", o.Note
	dev, err := o.Open(r.Sample)
	if err != nil {
		return r, err
	}
	defer func() { err = device.Join(err, dev.Close()) }()
	c, err := prepare(dev, s, &r)
	if err != nil {
		return r, err
	}
	times, err := c.repeat(r.Mode, o.Repeats)
	if err != nil {
		return r, err
	}
	if r.MeasuredUS, r.Spread = average(times); !(r.MeasuredUS > 0) {
		return r, fmt.Errorf("the device reports a time of %g us", r.MeasuredUS)
	}
	if r.MeasuredUS < shortestKernelUS {
		r.Class = LaunchClass
	}
	return r, nil
}

// A GPU raises its clock only under load, so measurements are repeated for a while before they count.
const (
	warmFor  = 100 * time.Millisecond
	warmMost = 100 // measurements
)

// repeat returns the times of several measurements. A simulated device has a constant clock and is measured once.
func (c *contract) repeat(m Mode, repeats int) (times []float64, err error) {
	if c.dev.Info().Simulated {
		repeats = 1
	} else {
		begin := c.dev.Now()
		for i := 0; i < warmMost && c.dev.Now()-begin < warmFor; i++ {
			if _, err := c.measure(m); err != nil {
				return nil, err
			}
		}
	}
	for range repeats {
		us, err := c.measure(m)
		if err != nil {
			return nil, err
		}
		times = append(times, us)
	}
	return times, nil
}

// average returns the mean and the standard deviation divided by the mean, rounded to 6 and 2 digits.
func average(times []float64) (mean, spread float64) {
	n := float64(len(times))
	for _, t := range times {
		mean += t / n
	}
	squares := 0.0
	for _, t := range times {
		squares += (t - mean) * (t - mean)
	}
	if n > 1 && mean > 0 {
		spread = math.Sqrt(squares/(n-1)) / mean
	}
	return digits(mean, 6), digits(spread, 2)
}

// digits rounds to some significant digits.
func digits(v float64, n int) float64 {
	var rounded float64
	if _, err := fmt.Sscan(fmt.Sprintf("%.*g", n, v), &rounded); err != nil {
		return v // not finite
	}
	return rounded
}
