package verify

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/graphexec"
	"github.com/reprise-gpu/reprise/internal/traced"
	"github.com/reprise-gpu/reprise/ir"
)

// Difference is the first operation, in program order, after which memory that it writes differs from serial execution.
type Difference struct {
	Operation string `json:"operation"` // as in "%3 square at vec.go:41"
	Buffer    string `json:"buffer"`
	Lo        int64  `json:"lo"` // the first bytes that differ, of the buffer
	Hi        int64  `json:"hi"`
	Want      []byte `json:"want"` // at most 16 of them, after serial execution
	Got       []byte `json:"got"`

	// Final reports that the difference was found at the end of a replay. It disappears when the plan copies
	// intermediate results, so that the operation is the last writer of the bytes, and not the first one that differs.
	Final bool `json:"final,omitempty"`
}

// String returns the difference as a sentence.
func (d *Difference) String() string {
	when := "after it"
	if d.Final {
		when = "at the end, where it is the last writer (the difference disappears with copies behind the operations)"
	}
	return fmt.Sprintf("%s: @%s[%d:%d] is % x %s, and % x in serial execution", d.Operation, d.Buffer, d.Lo, d.Hi, d.Got, when, d.Want)
}

// maxSnapshots bounds the memory of the copies of one replay, in bytes, unless one operation writes more.
const maxSnapshots = 256 << 20

// Bisect replays a plan of a trace and returns the first operation whose results differ from those of serial execution,
// or nil if there is none. It copies what each operation writes directly behind it: the copies belong to the operation,
// so that operations that the plan does not order remain unordered. The memory of the copies is bounded; long programs
// are replayed several times.
//
// trace is a *tracer.Trace, whose inputs have been written, on dev or a wrapper of it. Afterwards its memory is what it was
// before. Host calls run. Loops and branches are compared as a whole, and merged and sliced launches with those that they stand
// for. Buffers that passes have added are not compared.
func Bisect(ctx context.Context, dev device.Device, trace traced.Program, s *ir.Schedule, form graphexec.Backend) (*Difference, error) {
	t := traced.Of(trace)
	switch {
	case t == nil || t.Recorded() == nil:
		return nil, traced.ErrForeign
	case s == nil || s.Graph == nil:
		return nil, ir.VerifySchedule(s)
	case s.Graph.Copies > 1:
		return nil, fmt.Errorf("a replay of the plan stands for %d of the trace: plan without unroll", s.Graph.Copies)
	}
	b := &bisection{ctx, dev, t, serial(t.Recorded()), s, form}
	for all := b.results(); len(all) > 0; {
		n := 1
		for size := all[0].Hi - all[0].Lo; n < len(all); n++ {
			if size += all[n].Hi - all[n].Lo; size > maxSnapshots {
				break
			}
		}
		if d, err := b.compare(all[:n]); d != nil || err != nil {
			return d, err
		}
		all = all[n:]
	}
	return b.compareEnd()
}

// serial returns the schedule of a trace on one lane.
func serial(g *ir.Graph) *ir.Schedule {
	s := &ir.Schedule{Graph: g, Strategy: "serial", Lanes: min(1, g.Len()), Lane: make([]ir.LaneID, g.Len()), Waits: make([][]ir.OpID, g.Len())}
	for v := range g.Ops {
		s.Order = append(s.Order, ir.OpID(v))
		if c := g.Ops[v].Control; c != nil {
			if s.Bodies == nil {
				s.Bodies = map[ir.OpID][]*ir.Schedule{}
			}
			for _, body := range c.Bodies {
				s.Bodies[ir.OpID(v)] = append(s.Bodies[ir.OpID(v)], serial(body))
			}
		}
	}
	return s
}

type bisection struct {
	ctx    context.Context
	dev    device.Device
	trace  traced.Trace
	serial *ir.Schedule
	plan   *ir.Schedule
	form   graphexec.Backend
}

// result is bytes that an operation writes, by its numbers in the plan and in the trace.
type result struct {
	ir.Access
	planned, traced ir.OpID
}

// results returns what the operations of the plan write, in program order of the trace where passes have kept it.
func (b *bisection) results() (all []result) {
	g, recorded := b.plan.Graph, b.serial.Graph
	var scratch [2]ir.Access
	for v := range g.Ops {
		members := []ir.OpID{traced.Origin(g, ir.OpID(v))}
		accesses := g.Ops[v].Accesses(&scratch)
		merged := g.Merged[ir.OpID(v)]
		for i, m := range merged {
			if i == 0 {
				members, accesses = members[:0], nil
			}
			members = append(members, m.Op)
		}
		for _, t := range members {
			if merged != nil {
				accesses = recorded.Ops[t].Accesses(&scratch)
			}
			for _, a := range accesses {
				if a.Mode.Writes() && !a.Empty() && int(a.Buffer) < len(recorded.Buffers) {
					all = append(all, result{a, ir.OpID(v), t})
				}
			}
		}
	}
	return all
}

// compare compares some results.
func (b *bisection) compare(results []result) (*Difference, error) {
	want, err := b.snapshots(b.serial, results, func(r *result) ir.OpID { return r.traced })
	if err != nil {
		return nil, fmt.Errorf("serial execution: %w", err)
	}
	got, err := b.snapshots(b.plan, results, func(r *result) ir.OpID { return r.planned })
	if err != nil {
		return nil, err
	}
	for i := range results {
		r := &results[i]
		if d := differ(b.plan.Graph, r.Access, want[i], got[i]); d != nil {
			d.Operation = name(b.serial.Graph, r.traced)
			return d, nil
		}
	}
	return nil, nil
}

// differ compares the bytes of an access, given the contents of its range.
func differ(g *ir.Graph, a ir.Access, want, got []byte) (d *Difference) {
	g.Box(a).Runs(func(lo, hi int64) bool {
		w, h := want[lo-a.Lo:hi-a.Lo], got[lo-a.Lo:hi-a.Lo]
		if bytes.Equal(w, h) {
			return true
		}
		from := 0
		for w[from] == h[from] {
			from++
		}
		to := from + 1
		for to < len(w) && w[to] != h[to] {
			to++
		}
		shown := min(to, from+16)
		d = &Difference{Buffer: g.Buffers[a.Buffer].Name, Lo: lo + int64(from), Hi: lo + int64(to), Want: w[from:shown], Got: h[from:shown]}
		return false
	})
	return d
}

// snapshots replays a schedule and returns what the results are directly behind their operations.
func (b *bisection) snapshots(s *ir.Schedule, results []result, op func(*result) ir.OpID) (all [][]byte, err error) {
	with, names := instrument(s, results, op)
	err = b.run(with, func(x *graphexec.Exec) error {
		for i, name := range names {
			data, err := b.read(x, name, results[i].Hi-results[i].Lo)
			if err != nil {
				return err
			}
			all = append(all, data)
		}
		return nil
	})
	return all, err
}

// run replays a schedule once and calls a function. Then the memory of the trace is what it was before.
func (b *bisection) run(s *ir.Schedule, look func(*graphexec.Exec) error) error {
	return b.trace.Rehearse(b.dev, func(func() error) error {
		x, err := graphexec.Instantiate(b.dev, s, b.trace, b.form)
		if err != nil {
			return err
		}
		if err = errors.Join(x.Replay(b.ctx), x.Wait(b.ctx)); err == nil {
			err = look(x)
		}
		return device.Join(err, x.Close())
	})
}

// read returns the contents of a buffer of a replay.
func (b *bisection) read(x *graphexec.Exec, buffer string, size int64) ([]byte, error) {
	at, err := x.Pointer(buffer)
	if err != nil {
		return nil, err
	}
	data := make([]byte, size)
	return data, b.dev.Read(data, at)
}

// compareEnd compares the buffers that the plan writes at the end of a replay without copies.
func (b *bisection) compareEnd() (d *Difference, err error) {
	last := map[ir.BufferID][]result{}
	for _, r := range b.results() {
		buf := &b.plan.Graph.Buffers[r.Buffer]
		if buf.Place.Kind == ir.OnDevice && (b.plan.Offset == nil || b.plan.Offset[r.Buffer] < 0) {
			last[r.Buffer] = append(last[r.Buffer], r)
		}
	}
	contents := func(s *ir.Schedule) (all [][]byte, err error) {
		err = b.run(s, func(x *graphexec.Exec) error {
			for id := range b.serial.Graph.Buffers {
				var data []byte
				if last[ir.BufferID(id)] != nil {
					buf := &b.serial.Graph.Buffers[id]
					if data, err = b.read(x, buf.Name, buf.Size()); err != nil {
						return err
					}
				}
				all = append(all, data)
			}
			return nil
		})
		return all, err
	}
	want, err := contents(b.serial)
	if err != nil {
		return nil, fmt.Errorf("serial execution: %w", err)
	}
	got, err := contents(b.plan)
	if err != nil {
		return nil, err
	}
	for id := range want {
		for i := len(last[ir.BufferID(id)]) - 1; i >= 0; i-- {
			r := last[ir.BufferID(id)][i]
			if d := differ(b.plan.Graph, r.Access, want[id][r.Lo:r.Hi], got[id][r.Lo:r.Hi]); d != nil {
				d.Operation, d.Final = name(b.serial.Graph, r.traced), true
				return d, nil
			}
		}
	}
	return nil, nil
}
