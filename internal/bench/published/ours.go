package published

import (
	"slices"

	"github.com/reprise-gpu/reprise/internal/bench/compare"
)

// ours holds the comparisons of one workload.
type ours struct{ points []point }

// point holds the comparisons of a size and a block size, by memory mode.
type point struct {
	size, threads int
	modes         map[string]*compare.Comparison
}

// collect returns the comparisons of a workload at sizes of the evaluation. Others have no published counterpart.
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

// serial returns the time of what the paper calls serial, in us: the program waits after each operation, and kernels
// fault their data in. It is 0 if that was not measured.
func (p *point) serial() float64 {
	if c := p.modes["managed"]; c != nil {
		return c.Row("c++ sync").ReplayUS
	}
	return 0
}

// parallel returns the fastest row in Go with prefetches, or without them on a device that lacks them. It is an empty
// row if neither was measured.
func (p *point) parallel() *compare.Row {
	for _, mode := range []string{"prefetch", "managed"} {
		if c := p.modes[mode]; c != nil {
			return c.Row(c.Best)
		}
	}
	return &compare.Row{}
}

// bound returns the lower bound for the runs of parallel, in us.
func (p *point) bound() float64 { r := p.parallel(); return r.OfBound * r.ReplayUS }

func (p *point) speedup() float64 { return over(p.serial(), p.parallel().ReplayUS) }

// within returns the speedup over a serial run in the same memory mode.
func (p *point) within(mode string) float64 {
	if c := p.modes[mode]; c != nil {
		return c.Row(c.Best).SpeedupOverSync
	}
	return 0
}

// mean returns the geometric mean over all points, or 0 without values.
func (o *ours) mean(value func(*point) float64) float64 {
	var all []float64
	for i := range o.points {
		all = append(all, value(&o.points[i]))
	}
	return compare.GeometricMean(all)
}

// worst returns the largest ratio of the time of a plan to that of the best C++ version.
func (o *ours) worst() (ratio float64) {
	for _, p := range o.points {
		for _, c := range p.modes {
			ratio = max(ratio, c.Ratio)
		}
	}
	return ratio
}

// median returns the median over the block sizes of a size, as in the paper, or 0 without values.
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

// best returns the point of a size with the greatest speedup, or nil.
func (o *ours) best(size int) (best *point) {
	for i := range o.points {
		if p := &o.points[i]; p.size == size && (best == nil || p.speedup() > best.speedup()) {
			best = p
		}
	}
	return best
}

// over returns a/b, or 0 if one is unknown.
func over(a, b float64) float64 {
	if b == 0 {
		return 0
	}
	return a / b
}
