package published

import (
	"slices"

	"github.com/reprise-gpu/reprise/internal/bench/compare"
)

// ours is the comparisons of one workload.
type ours struct{ points []point }

// A point is a size and a block size, in each memory mode that was compared.
type point struct {
	size, threads int
	modes         map[string]*compare.Comparison
}

// collect leaves out sizes that the evaluation does not have: what was published says
// nothing about them.
func collect(all []compare.Comparison, workload string) (o ours) {
	for i := range all {
		c := &all[i]
		if c.Workload != workload || CoversSize(workload, c.Size) != nil {
			continue
		}
		at := slices.IndexFunc(o.points, func(p point) bool { return p.size == c.Size && p.threads == c.Threads })
		if at < 0 {
			at = len(o.points)
			o.points = append(o.points, point{c.Size, c.Threads, map[string]*compare.Comparison{}})
		}
		o.points[at].modes[c.Memory] = c
	}
	return o
}

// serial is what the paper calls so, in us: the program waits after each operation, and
// its kernels fault their data in. 0 when that was not compared.
func (p *point) serial() float64 {
	if c := p.modes["managed"]; c != nil {
		return c.Row("c++ sync").ReplayUS
	}
	return 0
}

// parallel is the fastest row in Go with prefetches, or without them on a device that
// has none; an empty row when neither was compared.
func (p *point) parallel() *compare.Row {
	for _, mode := range []string{"prefetch", "managed"} {
		if c := p.modes[mode]; c != nil {
			return c.Row(c.Best)
		}
	}
	return &compare.Row{}
}

// bound is of the runs that parallel is of, in us.
func (p *point) bound() float64 { r := p.parallel(); return r.OfBound * r.ReplayUS }

func (p *point) speedup() float64 { return over(p.serial(), p.parallel().ReplayUS) }

// within is the speedup over a serial run in the same memory mode.
func (p *point) within(mode string) float64 {
	if c := p.modes[mode]; c != nil {
		return c.Row(c.Best).SpeedupOverSync
	}
	return 0
}

// mean is the geometric mean over all points, 0 when there is nothing to average.
func (o *ours) mean(value func(*point) float64) float64 {
	var all []float64
	for i := range o.points {
		all = append(all, value(&o.points[i]))
	}
	return compare.GeometricMean(all)
}

// worst is how far any of our plans is from the best C++ version: the largest ratio.
func (o *ours) worst() (ratio float64) {
	for _, p := range o.points {
		for _, c := range p.modes {
			ratio = max(ratio, c.Ratio)
		}
	}
	return ratio
}

// median is over the block sizes of a size, as the published times are; 0 without any.
func (o *ours) median(size int, value func(*point) float64) float64 {
	var all []float64
	for i := range o.points {
		if v := value(&o.points[i]); o.points[i].size == size && v > 0 {
			all = append(all, v)
		}
	}
	if len(all) == 0 {
		return 0
	}
	slices.Sort(all)
	return (all[(len(all)-1)/2] + all[len(all)/2]) / 2
}

// best is the point of a size whose speedup is greatest, nil without any.
func (o *ours) best(size int) (best *point) {
	for i := range o.points {
		if p := &o.points[i]; p.size == size && (best == nil || p.speedup() > best.speedup()) {
			best = p
		}
	}
	return best
}

// over is a/b, 0 when one is not known.
func over(a, b float64) float64 {
	if b == 0 {
		return 0
	}
	return a / b
}
