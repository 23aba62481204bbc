package verify

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/reprise-gpu/reprise/graphexec"
	"github.com/reprise-gpu/reprise/internal/dense"
	"github.com/reprise-gpu/reprise/internal/lowered"
	"github.com/reprise-gpu/reprise/internal/order"
	"github.com/reprise-gpu/reprise/ir"
)

// Proof is the result of Check.
type Proof struct {
	Program    string `json:"program"`
	Strategy   string `json:"strategy"`
	Backend    string `json:"backend"`
	Operations int    `json:"operations"`
	Conflicts  int    `json:"conflicts"` // pairs that were checked; they imply all others
	Steps      int    `json:"steps"`     // commands and nodes that the device received for three replays
	Waits      int    `json:"waits"`     // edges of graphs and waits for events among them, each counted once
	Races      []Race `json:"races"`

	lowered *loweredProgram
}

// OK reports whether every pair of conflicting accesses is ordered.
func (p *Proof) OK() bool { return len(p.Races) == 0 }

// maxRaces bounds Proof.Races.
const maxRaces = 20

var errHosted = errors.New("the host runs the loops and branches of this program one operation after another, so there is no order to check: a loop has more iterations than a conditional node can count")

// Check instantiates a schedule on a device that runs nothing, replays it three times, and compares what the device
// received with the accesses of the operations. Every pair of accesses that conflict must be ordered by the streams,
// events and graph edges alone: within a replay, from replay to replay, in the bodies of loops and branches, and between
// buffers that share memory. Check does not read the lanes and waits of the schedule.
//
// It takes O((operations + conflicts) · lanes) time in the worst case, and seconds for 100 000 operations. The error
// reports a schedule that cannot be instantiated.
func Check(s *ir.Schedule, form graphexec.Backend) (*Proof, error) {
	l, err := lower(s, form)
	if err != nil {
		return nil, err
	}
	p := &Proof{
		Program: s.Graph.Name, Strategy: s.Strategy, Backend: form.String(), Operations: len(l.ops),
		Conflicts: len(l.needs), Steps: l.rec.Len(), Waits: l.rec.Waits(), Races: append([]Race{}, l.overlaid...), lowered: l,
	}
	for _, need := range l.unordered(order.Kept) {
		if len(p.Races) == maxRaces {
			break
		}
		p.Races = append(p.Races, l.race(need, order.Kept))
	}
	return p, nil
}

// loweredProgram is what a device received for three replays, and the order that the accesses need.
type loweredProgram struct {
	schedule *ir.Schedule
	form     graphexec.Backend
	rec      *order.Recorder
	ops      []lowered.Operation
	of       map[int32]work // by first step: the operation whose work it is
	needs    []need
	overlaid []Race // reads of memory that another buffer has overwritten
}

// work is the step of an operation in a replay.
type work struct{ op, replay int }

// replays is the number of replays that are submitted: the first, one right behind it, and one after Wait. Later ones
// repeat these.
const replays = 3

// need is two operations that must be ordered. Its pairs of steps are those of all replays.
type need struct {
	first, second int // indices in ops
	later         int // replays between the two: 0 or 1
	hazard        ir.Hazard
	bytes         func() ir.Range
	pairs         []dense.Edge
}

func lower(s *ir.Schedule, form graphexec.Backend) (*loweredProgram, error) {
	l := &loweredProgram{schedule: s, form: form, rec: order.New(), of: map[int32]work{}}
	var g *ir.Graph
	if s != nil {
		g = s.Graph
	}
	if g == nil {
		return nil, ir.VerifySchedule(s)
	}
	exec, err := graphexec.Instantiate(l.rec, s, newBindings(l.rec, g), form)
	if err != nil {
		return nil, err
	}
	program, ok := lowered.Of(exec)
	if !ok {
		return nil, errHosted
	}
	ctx := context.Background()
	if err := errors.Join(exec.ReplayN(ctx, replays-1), exec.Wait(ctx), exec.Replay(ctx)); err != nil {
		return nil, err
	}
	l.ops = program.Operations
	if err := l.index(); err != nil {
		return nil, err
	}
	l.collect(program)
	return l, nil
}

// index maps steps to operations. The error reports an operation that the device did not receive.
func (l *loweredProgram) index() error {
	for i := range l.ops {
		op := &l.ops[i]
		if len(op.At) != 1 && accesses(op) {
			return fmt.Errorf("the lowered program has the work of %s %d times instead of once", op.Name, len(op.At))
		}
		for _, h := range op.At {
			spans := l.spans(h)
			if len(spans) != replays {
				return fmt.Errorf("%d replays of the lowered program run %s %d times", replays, op.Name, len(spans))
			}
			for r, s := range spans {
				l.of[s.First] = work{i, r}
			}
		}
	}
	return nil
}

// accesses reports whether an operation accesses memory.
func accesses(op *lowered.Operation) bool {
	var scratch [2]ir.Access
	return slices.ContainsFunc(op.Schedule.Graph.Ops[op.Op].Accesses(&scratch), func(a ir.Access) bool { return !a.Empty() })
}

func (l *loweredProgram) spans(h lowered.Handle) []order.Span {
	if h.Node != 0 {
		return l.rec.Node(h.Exec, h.Body, h.Node)
	}
	return l.rec.Command(h.List, h.Command)
}

// collect finds the needs of the schedule and of each body.
func (l *loweredProgram) collect(program lowered.Program) {
	for from := 0; from < len(l.ops); {
		g := l.ops[from].Schedule.Graph
		to := from + g.Len()
		l.conflicts(g, from)
		l.after(g, from)
		from = to
	}
	l.shared(program.Address)
	l.scalars()
}

// conflicts adds the conflicts of the operations of a graph, which are those in ops from an index on.
func (l *loweredProgram) conflicts(g *ir.Graph, from int) {
	order := make([]ir.OpID, g.Len())
	for v := range order {
		order[v] = ir.OpID(v)
	}
	l.addAll(conflictsOf(g, order, func(a ir.Access) ir.Access { return a }), g.Len(), from, from == 0)
}

// addAll adds conflicts of two replays of n operations. The iterations of a body follow each other, so that only those
// within an iteration count there.
func (l *loweredProgram) addAll(all *conflicts, n, from int, again bool) {
	for _, c := range all.found {
		u, v := int(c.first), int(c.second)
		switch {
		case v < n:
			l.add(need{first: from + u, second: from + v, hazard: c.hazard, bytes: func() ir.Range { return all.common(c) }})
		case u < n && again:
			l.add(need{first: from + u, second: from + v - n, later: 1, hazard: c.hazard, bytes: func() ir.Range { return all.common(c) }})
		}
	}
}

// add adds a need with the pairs of steps of all replays.
func (l *loweredProgram) add(n need) {
	u, v := &l.ops[n.first], &l.ops[n.second]
	if len(u.At) == 0 || len(v.At) == 0 {
		return
	}
	for r := range replays - n.later {
		end := l.spans(u.At[0])[r].Last
		n.pairs = append(n.pairs, dense.Edge{From: end, To: l.spans(v.At[0])[r+n.later].First})
		for _, h := range v.Reads {
			if at := l.spans(h)[r+n.later].First; at < l.spans(v.At[0])[r+n.later].First {
				n.pairs = append(n.pairs, dense.Edge{From: end, To: at}) // the kernel that selects a body of a branch
			}
		}
	}
	l.needs = append(l.needs, n)
}

// after adds the after edges of a graph. Operations without work pass on the edges that lead to them.
func (l *loweredProgram) after(g *ir.Graph, from int) {
	through := map[ir.OpID][]ir.OpID{} // by operation without work
	for v := range g.Ops {
		var before []ir.OpID
		for _, u := range g.Ops[v].After {
			if passed, none := through[u]; none {
				before = append(before, passed...)
			} else {
				before = append(before, u)
			}
		}
		if len(l.ops[from+v].At) == 0 {
			through[ir.OpID(v)] = before
			continue
		}
		for _, u := range before {
			l.add(need{first: from + int(u), second: from + v, hazard: ir.Ordered, bytes: func() ir.Range { return ir.Range{} }})
		}
	}
}

// scalars adds the reads of the scalars of loops: the kernel at the end of a body reads what the body writes. The
// scalar of a branch is read before its conditional node.
func (l *loweredProgram) scalars() {
	for i := range l.ops {
		for _, h := range l.ops[i].Reads {
			for r, reader := range l.spans(h) {
				l.scalar(i, r, reader)
			}
		}
	}
}

// scalar adds the order of the kernel that reads the scalar of loop or branch i in a replay.
func (l *loweredProgram) scalar(i, replay int, reader order.Span) {
	op := &l.ops[i]
	whole := l.spans(op.At[0])[replay]
	scalar := op.Schedule.Graph.Ops[op.Op].Control.Scalar
	bytes := func() ir.Range { return scalar }
	if reader.First < whole.First {
		l.needs = append(l.needs, need{i, i, 0, ir.RAW, bytes, []dense.Edge{{From: reader.Last, To: whole.First}}})
		return
	}
	for j := range l.ops {
		for _, h := range l.ops[j].At {
			at := l.spans(h)[replay]
			if at.First > whole.First && at.Last < whole.Last && writes(&l.ops[j], scalar) {
				l.needs = append(l.needs, need{j, i, 0, ir.RAW, bytes, []dense.Edge{{From: at.Last, To: reader.First}}})
			}
		}
	}
}

// writes reports whether an operation writes bytes of a range.
func writes(op *lowered.Operation, r ir.Range) bool {
	var scratch [2]ir.Access
	g := op.Schedule.Graph
	return slices.ContainsFunc(g.Ops[op.Op].Accesses(&scratch), func(a ir.Access) bool {
		return a.Mode.Writes() && a.Overlaps(r) && g.Box(a).Overlaps(g.Box(ir.Access{Range: r}))
	})
}

// unordered returns the needs of which some pair of steps is not ordered if the program omits a wait.
func (l *loweredProgram) unordered(without int32) (missing []need) {
	var pairs []dense.Edge
	for i := range l.needs {
		pairs = append(pairs, l.needs[i].pairs...)
	}
	ordered := l.rec.Ordered(pairs, without)
	for _, n := range l.needs {
		if slices.Contains(ordered[:len(n.pairs)], false) {
			missing = append(missing, n)
		}
		ordered = ordered[len(n.pairs):]
	}
	return missing
}
