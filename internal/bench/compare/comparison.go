package compare

import (
	"github.com/reprise-gpu/reprise/internal/bench"
	"github.com/reprise-gpu/reprise/internal/bench/overlap"
)

// Comparison holds all results for a workload in one setting.
type Comparison struct {
	Workload  string `json:"workload"`
	Size      int    `json:"size"`
	Memory    string `json:"memory"`
	Threads   int    `json:"threads"`
	Blocks    int    `json:"blocks"`
	Device    string `json:"device"`
	Simulated bool   `json:"simulated"`
	Sample    int64  `json:"sample,omitempty"`

	// BoundUS is the contention-free lower bound in us: the critical path through the dependencies, of operations
	// that each have the device alone. It is 0 if these durations are unknown.
	BoundUS float64 `json:"bound_us"`
	// Uncertainty is that of predicted times, relative: see package uncertainty. It is 0 for measured ones.
	Uncertainty float64 `json:"uncertainty,omitempty"`

	Best    string  `json:"best"`     // name of the fastest row in Go
	BestCPP string  `json:"best_cpp"` // name of the fastest row in C++; the first one if several are equally fast
	Ratio   float64 `json:"ratio"`    // least time in Go divided by the least time in C++
	Rows    []Row   `json:"rows"`

	Throughput *Throughput `json:"throughput,omitempty"` // nil without bursts
}

// Row is one way of running the workload. Ratios compare times: less than 1 is faster. Speedups are the inverse. 0
// means unknown. SpeedupOverSerial of the record is relative to the strictest serial execution: the serial strategy
// as a graph, in the same memory mode.
type Row struct {
	bench.Record
	Name            string          `json:"name"`              // "nimble/graph", "c++ async"
	RatioToGraph    float64         `json:"ratio_to_graph"`    // to the C++ version graph
	RatioToBest     float64         `json:"ratio_to_best"`     // to the fastest C++ version
	SpeedupOverSync float64         `json:"speedup_over_sync"` // over the C++ version sync
	OfBound         float64         `json:"of_bound"`          // the lower bound divided by the time; 1 is optimal
	Gain            float64         `json:"gain,omitempty"`    // throughput divided by that of the best C++ version; see Throughput
	Overlap         *overlap.Shares `json:"overlap,omitempty"` // nil if it was not measured
}

func newComparison(records []bench.Record, f *found) *Comparison {
	r := &records[0]
	c := &Comparison{
		Workload: r.Workload, Size: r.Size, Memory: r.Memory, Threads: r.Threads, Blocks: r.Blocks,
		Device: r.Device, Simulated: r.Simulated, Sample: r.Sample, BoundUS: f.bound,
	}
	for i := range records {
		row := Row{Record: records[i], Name: records[i].Way()}
		if shares, ok := f.overlap[row.Name]; ok {
			row.Overlap = &shares
		}
		c.Uncertainty = max(c.Uncertainty, row.Uncertainty)
		if row.Also != "" || row.Copies > 1 {
			c.throughput().Options = append(c.Throughput.Options, row)
			continue
		}
		c.Rows = append(c.Rows, row)
	}
	c.relate()
	if r.Burst > 0 {
		c.relateBursts()
	}
	return c
}

// relate computes the ratios between rows.
func (c *Comparison) relate() {
	ours, theirs := c.fastest("go"), c.fastest("c++")
	c.Best, c.BestCPP = ours.Name, c.level(theirs).Name
	c.Ratio = ratio(ours.ReplayUS, theirs.ReplayUS)
	graph, sync, alone := c.Row("c++ graph"), c.Row("c++ sync"), c.Row(serial+"/graph", serial+"/streams")
	for _, r := range c.all() {
		r.RatioToGraph = ratio(r.ReplayUS, graph.ReplayUS)
		r.RatioToBest = ratio(r.ReplayUS, theirs.ReplayUS)
		r.SpeedupOverSerial = ratio(alone.ReplayUS, r.ReplayUS)
		r.SpeedupOverSync = ratio(sync.ReplayUS, r.ReplayUS)
		r.OfBound = ratio(c.BoundUS, r.ReplayUS)
	}
}

// Row returns the row of the first name that has one, or an empty row.
func (c *Comparison) Row(names ...string) *Row {
	for _, name := range names {
		for i := range c.Rows {
			if c.Rows[i].Name == name {
				return &c.Rows[i]
			}
		}
	}
	return &Row{}
}

// fastest returns the fastest row of a language without a wrong result, or an empty row.
func (c *Comparison) fastest(language string) *Row {
	best := &Row{}
	for i := range c.Rows {
		r := &c.Rows[i]
		if r.Language == language && r.OK && r.ReplayUS > 0 && (best.ReplayUS == 0 || r.ReplayUS < best.ReplayUS) {
			best = r
		}
	}
	return best
}

// tick exceeds the rounding error, in us, of a time read off a clock in whole nanoseconds, and is less than two of
// them.
const tick = 1.5e-3

// level returns the first row of the same language that is as fast as a given row within the accuracy of clocks.
// Several versions often have the same schedule, and the name of the best must not depend on a nanosecond.
func (c *Comparison) level(with *Row) *Row {
	for i := range c.Rows {
		r := &c.Rows[i]
		if r.Language == with.Language && r.OK && r.ReplayUS > 0 && r.ReplayUS-with.ReplayUS < tick {
			return r
		}
	}
	return with
}

// Slower reports whether the fastest row in Go takes more than the given multiple of the fastest C++ version, beyond
// the accuracy of clocks.
func (c *Comparison) Slower(times float64) bool {
	ours, theirs := c.fastest("go"), c.fastest("c++")
	return theirs.ReplayUS > 0 && ours.ReplayUS-times*theirs.ReplayUS > tick
}

// Wrong returns the first row with a wrong result, or nil.
func (c *Comparison) Wrong() *Row {
	for _, r := range c.all() {
		if !r.OK {
			return r
		}
	}
	return nil
}

// ratio returns a/b, or 0 if one is unknown.
func ratio(a, b float64) float64 {
	if b == 0 {
		return 0
	}
	return a / b
}
