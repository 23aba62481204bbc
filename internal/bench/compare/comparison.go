package compare

import (
	"github.com/reprise-gpu/reprise/bench"
	"github.com/reprise-gpu/reprise/internal/bench/overlap"
)

// Comparison is everything about a workload in one setting.
type Comparison struct {
	Workload  string `json:"workload"`
	Size      int    `json:"size"`
	Memory    string `json:"memory"`
	Threads   int    `json:"threads"`
	Blocks    int    `json:"blocks"`
	Device    string `json:"device"`
	Simulated bool   `json:"simulated"`
	Sample    int64  `json:"sample,omitempty"`

	// BoundUS is the contention-free lower bound: the critical path over the
	// dependencies, of operations that each have the device for themselves. 0 when
	// nothing could tell how long those take.
	BoundUS float64 `json:"bound_us"`
	Best    string  `json:"best"`     // the fastest row in Go
	BestCPP string  `json:"best_cpp"` // and of the versions in C++, of several the first
	Ratio   float64 `json:"ratio"`    // of the least times of both
	Rows    []Row   `json:"rows"`
}

// Row is one way of running the workload. Ratios are of times, so that less than 1 is
// faster than what it is compared with, and speedups the other way round; 0 stands
// for one that cannot be told. In the record, SpeedupOverSerial is over the strictest
// serial execution there is: the serial strategy as a graph, in the same memory mode.
type Row struct {
	bench.Record
	Name            string          `json:"name"`              // "nimble/graph", "c++ async"
	RatioToGraph    float64         `json:"ratio_to_graph"`    // to the C++ version graph
	RatioToBest     float64         `json:"ratio_to_best"`     // to the fastest C++ version
	SpeedupOverSync float64         `json:"speedup_over_sync"` // over the C++ version sync
	OfBound         float64         `json:"of_bound"`          // the lower bound over the time: 1 is as fast as can be
	Overlap         *overlap.Shares `json:"overlap,omitempty"` // where it could be looked at
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
		c.Rows = append(c.Rows, row)
	}
	c.relate()
	return c
}

// relate fills in what rows are to each other.
func (c *Comparison) relate() {
	ours, theirs := c.fastest("go"), c.fastest("c++")
	c.Best, c.BestCPP = ours.Name, c.level(theirs).Name
	c.Ratio = ratio(ours.ReplayUS, theirs.ReplayUS)
	graph, sync, alone := c.Row("c++ graph"), c.Row("c++ sync"), c.Row(serial+"/graph", serial+"/streams")
	for i := range c.Rows {
		r := &c.Rows[i]
		r.RatioToGraph = ratio(r.ReplayUS, graph.ReplayUS)
		r.RatioToBest = ratio(r.ReplayUS, theirs.ReplayUS)
		r.SpeedupOverSerial = ratio(alone.ReplayUS, r.ReplayUS)
		r.SpeedupOverSync = ratio(sync.ReplayUS, r.ReplayUS)
		r.OfBound = ratio(c.BoundUS, r.ReplayUS)
	}
}

// Row is the row of the first of the names that has one, an empty one when none has.
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

// fastest is the fastest row in a language whose result was not wrong, an empty one
// when there is none.
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

// tick is more microseconds than a time can be off by for having been read off a clock
// in whole nanoseconds, and less than two of those.
const tick = 1.5e-3

// level is the first row of the same language that is as fast as one, as far as clocks tell. Several
// versions are often one schedule, and which is called the best must not hang on a nanosecond.
func (c *Comparison) level(with *Row) *Row {
	for i := range c.Rows {
		r := &c.Rows[i]
		if r.Language == with.Language && r.OK && r.ReplayUS > 0 && r.ReplayUS-with.ReplayUS < tick {
			return r
		}
	}
	return with
}

// Slower tells whether the fastest row in Go takes more than so many times what the
// fastest C++ version takes: by more than two clocks differ that show the same time.
func (c *Comparison) Slower(times float64) bool {
	ours, theirs := c.fastest("go"), c.fastest("c++")
	return theirs.ReplayUS > 0 && ours.ReplayUS-times*theirs.ReplayUS > tick
}

// Wrong is the first row with a wrong result, nil when all are right.
func (c *Comparison) Wrong() *Row {
	for i := range c.Rows {
		if !c.Rows[i].OK {
			return &c.Rows[i]
		}
	}
	return nil
}

// ratio is 0 when one of the times is not known.
func ratio(a, b float64) float64 {
	if b == 0 {
		return 0
	}
	return a / b
}
