package report

import (
	"slices"

	"github.com/reprise-gpu/reprise/internal/plansize"
	"github.com/reprise-gpu/reprise/internal/timeline"
	"github.com/reprise-gpu/reprise/optimizer"
)

// maxUses bounds the samples of the use of the device.
const maxUses = 4000

// plan returns a plan and the replay of it.
func (p *program) plan(r, shared *optimizer.Result, t *timeline.Timeline) Plan {
	s := r.Schedule
	out := Plan{
		Strategy: s.Strategy, Backend: t.Backend, Lanes: s.Lanes, Waits: s.Syncs(), Total: t.Total, Uncertainty: t.Uncertainty,
		Bound: r.Bound * 1000, Lane: slicesOf(len(p.data.Operation), -1), WaitPairs: [][3]int{}, Path: []Step{}, Causes: []Part{}, Rows: []string{}, Spans: []Span{},
	}
	for v := range s.Graph.Ops {
		out.Lane[p.number[timelineNumber(v)]] = int(s.Lane[v])
	}
	p.spans(&out, t)
	p.path(&out, t)
	for _, w := range t.Waits() {
		delay := 0
		if w.Delay {
			delay = 1
		}
		out.WaitPairs = append(out.WaitPairs, [3]int{w.From, w.To, delay})
	}
	out.use(t)
	m := plansize.MemoryOf(shared.Schedule)
	out.Memory = Memory{Separate: m.Before, Shared: m.After, Bound: m.Bound, Live: live(t)}
	return out
}

// spans adds the spans and their rows.
func (p *program) spans(out *Plan, t *timeline.Timeline) {
	row := make([]int, len(t.Spans))
	for i, r := range t.Rows() {
		out.Rows = append(out.Rows, r.Title())
		for _, s := range r.Spans {
			row[s] = i
		}
	}
	for i := range t.Spans {
		s := &t.Spans[i]
		op := p.number[s.Number()]
		if s.Path != "" {
			out.Lane[op] = int(s.Lane())
		}
		span := Span{Op: op, Row: row[i], Iteration: s.Iteration, Ready: s.Ready, Begin: s.Begin, End: s.End, OnPath: s.OnPath, Gap: s.Gap}
		if s.Work != nil {
			span.Bound = s.Work.Limit
			if l := s.Work.Launched; l != nil {
				span.Warps = int(100*l.Warps + 0.5)
			}
		}
		out.Spans = append(out.Spans, span)
	}
}

// path adds the critical path, and its parts by cause. Steps of one operation are joined.
func (p *program) path(out *Plan, t *timeline.Timeline) {
	for _, s := range t.Steps {
		i := slices.IndexFunc(out.Causes, func(c Part) bool { return c.Cause == s.Cause })
		if i < 0 {
			i = len(out.Causes)
			out.Causes = append(out.Causes, Part{Cause: s.Cause})
		}
		out.Causes[i].PS += s.Took
		step := Step{Span: s.Span, Gap: s.Before, Begin: s.Begin, Took: s.Took, Limit: s.Limit}
		if n := len(out.Path); n > 0 && s.Span >= 0 && out.Path[n-1].Span == s.Span && out.Path[n-1].Gap == s.Before {
			out.Path[n-1].Took += s.Took
			continue
		}
		out.Path = append(out.Path, step)
	}
}

// use adds the use of the device, at most maxUses samples.
func (out *Plan) use(t *timeline.Timeline) {
	every := 1 + len(t.Usage)/maxUses
	for i := 0; i < len(t.Usage); i += every {
		u := &t.Usage[i]
		out.Use = append(out.Use, Use{At: u.At, Warps: tenth(100 * u.Warps), DRAM: tenth(u.DRAM / 1e9), Link: tenth((u.LinkIn + u.LinkOut) / 1e9)})
	}
}

func tenth(v float64) float64 { return round(10*v) / 10 }
