package timeline

import (
	"fmt"

	"github.com/reprise-gpu/reprise/internal/sim"
	"github.com/reprise-gpu/reprise/ir"
)

// arguments is what a viewer shows of a selected slice.
type arguments struct {
	Operation string            `json:"operation"`
	Kind      string            `json:"kind"`
	Source    string            `json:"source,omitempty"`
	Kernel    string            `json:"kernel,omitempty"`
	Grid      string            `json:"grid,omitempty"`
	Block     string            `json:"block,omitempty"`
	Iteration int               `json:"iteration,omitempty"`
	Engine    string            `json:"engine"`
	Reads     []string          `json:"reads,omitempty"`
	Writes    []string          `json:"writes,omitempty"`
	Queued    *micros           `json:"queued_us,omitempty"`
	OnPath    *micros           `json:"on_critical_path_us,omitempty"`
	Gap       *micros           `json:"gap_before_us,omitempty"`
	Bound     string            `json:"bound_by,omitempty"`
	Spent     map[string]micros `json:"spent_us,omitempty"` // by limit; encoding/json sorts the keys
	PerSM     int               `json:"blocks_per_multiprocessor,omitempty"`
	Warps     float64           `json:"resident_warps_percent,omitempty"`
	DRAM      float64           `json:"dram_bytes,omitempty"`
	Flops     int64             `json:"flops,omitempty"`
}

// arguments returns the arguments of a span.
func (c *chrome) arguments(s *Span) arguments {
	op, g := s.Of(), s.Schedule.Graph
	a := arguments{Operation: s.Number(), Kind: op.Kind.String(), Source: op.Pos.String(), Iteration: s.Iteration, Engine: s.Engine.String()}
	if l := op.Launch; l != nil {
		a.Kernel, a.Grid, a.Block = l.Entry, extent(l.Grid), extent(l.Block)
	}
	a.Reads, a.Writes = Accesses(g, s.Op)
	if c.Source != Simulated {
		return a
	}
	a.Queued, a.OnPath, a.Gap = at(s.Begin-s.Ready), at(s.OnPath), at(s.Gap)
	a.count(s.Work)
	return a
}

// count adds what the simulator counted.
func (a *arguments) count(w *sim.Work) {
	a.Bound, a.Spent = w.Limit, map[string]micros{}
	for _, part := range w.Spent {
		a.Spent[part.Limit] = micros(part.Took)
	}
	if l := w.Launched; l != nil {
		a.PerSM, a.Warps, a.DRAM, a.Flops = l.PerSM, rounded(100*l.Warps), rounded(l.DRAMBytes), l.Flops
	}
}

// Accesses returns the bytes that an operation reads and writes: "@x[0:4096]".
func Accesses(g *ir.Graph, v ir.OpID) (reads, writes []string) {
	var scratch [2]ir.Access
	for _, a := range g.Ops[v].Accesses(&scratch) {
		if a.Mode.Reads() {
			reads = append(reads, RangeText(g, a.Range))
		}
		if a.Mode.Writes() {
			writes = append(writes, RangeText(g, a.Range))
		}
	}
	return reads, writes
}

// RangeText returns a range of bytes in the text form: "@x" for a whole buffer, else "@x[0:4096]".
func RangeText(g *ir.Graph, r ir.Range) string {
	b := &g.Buffers[r.Buffer]
	if r.Lo == 0 && r.Hi == b.Size() {
		return "@" + b.Name
	}
	return fmt.Sprintf("@%s[%d:%d]", b.Name, r.Lo, r.Hi)
}

func extent(d ir.Dim3) string { return fmt.Sprintf("%dx%dx%d", d.X, d.Y, d.Z) }

// reason describes why an operation waits for another one.
type reason struct {
	Waiting string `json:"waiting"`
	For     string `json:"for"`
	Hazard  string `json:"hazard,omitempty"`
	Bytes   string `json:"bytes,omitempty"`
}

// reason returns the dependency behind a wait. It is empty if the wait orders operations that depend on others of the lanes.
func (c *chrome) reason(w Wait) reason {
	from, to := &c.Spans[w.From], &c.Spans[w.To]
	r := reason{Waiting: to.Number() + " " + to.Title(), For: from.Number() + " " + from.Title()}
	g := c.Schedule.Graph
	for _, d := range g.DepsInto(to.Op) {
		if d.From == from.Op {
			r.Hazard = d.Hazard.String()
			if b := g.Cause(d); !b.Empty() {
				r.Bytes = RangeText(g, b)
			}
		}
	}
	return r
}
