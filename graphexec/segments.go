package graphexec

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/schedules"
	"github.com/reprise-gpu/reprise/internal/segments"
	"github.com/reprise-gpu/reprise/ir"
)

func init() {
	segments.Of = func(exec any) (segments.Program, error) { return exec.(*Exec).segments() }
}

// segmented is a back end that can also replay the program piece by piece. It instantiates the pieces of each
// granularity as graphs beside the form in which the program is replayed as a whole:
//
//	whole      %0 %1 %2 %3 %4 %5 %6 %7
//	coarse    │        0        │    1    │
//	fine      │  0  │  1  │  2  │  3  │ 4 │      a unit is a fine piece
//
// Changes update the nodes of all of them. Invariant: the pieces have the work of the program.
type segmented struct {
	backend
	exec   *Exec
	units  []segments.Unit
	layers []layer  // by granularity, the finest first
	tiles  [][]tile // by unit: the pieces that begin with it, the coarsest first
	cursor int      // the next unit; 0 between replays
	runner *runner  // nil if there is none
}

// layer is the pieces of one granularity.
type layer struct {
	pieces []pieceGraphs
	owner  []int32 // by operation of the outermost schedule: its piece
}

// pieceGraphs is an instantiated piece: graphs, and the prefetches between them, in order.
type pieceGraphs struct {
	groups
	steps []stretch
}

// stretch is a graph, or a prefetch if exec is 0.
type stretch struct {
	exec     device.GraphExec
	prefetch ir.OpID
}

// tile is a piece from the point of view of the unit that it begins with.
type tile struct {
	end         int // the unit behind it
	took        time.Duration
	layer, item int // the piece
}

var (
	errSegmented = errors.New("the Exec already has a segments.Program: close that first")
	errWithdrawn = errors.New("use of a closed segments.Program, or of one whose Exec is closed")
)

// segments instantiates the pieces of x.
func (x *Exec) segments() (_ segments.Program, err error) {
	if err := x.begin(); err != nil {
		return nil, err
	}
	defer x.end()
	if _, is := x.impl.(*segmented); is {
		return nil, errSegmented
	}
	s := &segmented{backend: x.impl, exec: x}
	s.measure()
	if s.layers, err = s.build(); err != nil {
		return nil, x.of("segments of", err)
	}
	x.impl, x.blank = s, maps.Clone(x.prog.settings.off)
	return s, nil
}

// midway returns an error if a replay by pieces has begun and not ended.
func (x *Exec) midway() error {
	s, is := x.impl.(*segmented)
	if !is {
		return nil
	}
	if s.cursor > 0 {
		return fmt.Errorf("a replay by segments has submitted %d of %d: submit the others first", s.cursor, len(s.units))
	}
	return s.runner.midway()
}

// measure sets the units and the tiles from the schedule.
func (s *segmented) measure() {
	levels := levelsOf(s.exec.prog.sched)
	unit := map[int]int{0: 0} // by position in the order: the unit that begins there
	from := 0
	for i, p := range levels[0].Pieces {
		s.units = append(s.units, segments.Unit{
			Predicted: time.Duration(p.Predicted), Blocks: s.blocks(from, p.End), Bound: p.Bound, Oversize: p.Oversize,
		})
		from, unit[p.End] = p.End, i+1
	}
	s.tiles = make([][]tile, len(s.units))
	for l := len(levels) - 1; l >= 0; l-- {
		from := 0
		for i, p := range levels[l].Pieces {
			at := unit[from]
			s.tiles[at] = append(s.tiles[at], tile{unit[p.End], time.Duration(p.Predicted), l, i})
			from = p.End
		}
	}
}

// blocks returns the number of blocks of the largest launch among operations of the order.
func (s *segmented) blocks(from, to int) (most int) {
	p := s.exec.prog
	for _, v := range p.sched.Order[from:to] {
		if l, is := p.work[v].(*device.Launch); is {
			most = max(most, int(l.Grid.Count()))
		}
	}
	return most
}

// levelsOf returns the segments of a schedule, or one piece if it has none.
func levelsOf(sched *ir.Schedule) []level {
	if len(sched.Segments) > 0 || len(sched.Order) == 0 {
		return append(sched.Segments, make([]level, max(0, 1-len(sched.Segments)))...)
	}
	whole := level{Limit: sched.Predicted}
	whole.Pieces = append(whole.Pieces, struct {
		End       int
		Predicted int64
		Bound     string
		Oversize  string
	}{End: len(sched.Order), Predicted: sched.Predicted})
	return []level{whole}
}

// level is an element of ir.Schedule.Segments.
type level = struct {
	Limit  int64
	Pieces []struct {
		End       int
		Predicted int64
		Bound     string
		Oversize  string
	}
}

// build instantiates the present program by pieces. On an error it frees what it has created.
func (s *segmented) build() (layers []layer, err error) {
	prog, dev := s.exec.prog, s.exec.dev
	var own device.Stream // for the states of loops
	if prog.controlled() {
		if own, err = dev.CreateStream(0); err != nil {
			return nil, err
		}
	}
	defer func() {
		if own != 0 {
			err = device.Join(err, dev.DestroyStream(own))
		}
		if err != nil {
			err = device.Join(append([]error{err}, destroyLayers(dev, layers)...)...)
			layers = nil
		}
	}()
	before := schedules.Predecessors(prog.sched)
	for _, level := range levelsOf(prog.sched) {
		layers = append(layers, layer{owner: make([]int32, len(prog.work))})
		l, from := &layers[len(layers)-1], 0
		for i, p := range level.Pieces {
			l.pieces = append(l.pieces, pieceGraphs{})
			ops := prog.sched.Order[from:p.End]
			for _, v := range ops {
				l.owner[v] = int32(i)
			}
			if err := l.pieces[i].build(s.exec, ops, before, own); err != nil {
				return layers, err
			}
			from = p.End
		}
	}
	return layers, nil
}

// build instantiates the operations of a piece, with a graph for each stretch between prefetches.
func (p *pieceGraphs) build(x *Exec, ops []ir.OpID, before [][]ir.OpID, own device.Stream) error {
	for len(ops) > 0 {
		if moves(x.prog.work[ops[0]]) {
			p.steps = append(p.steps, stretch{prefetch: ops[0]})
			ops = ops[1:]
			continue
		}
		n := 1
		for n < len(ops) && !moves(x.prog.work[ops[n]]) {
			n++
		}
		exec, err := p.graph(x, ops[:n], before, own)
		if err != nil {
			return err
		}
		p.steps = append(p.steps, stretch{exec: exec})
		ops = ops[n:]
	}
	return nil
}

// graph instantiates a graph of operations. Their predecessors outside it have been submitted before.
func (p *pieceGraphs) graph(x *Exec, ops []ir.OpID, before [][]ir.OpID, own device.Stream) (device.GraphExec, error) {
	g, err := x.dev.CreateGraph()
	if err != nil {
		return 0, err
	}
	p.graphs = append(p.graphs, g)
	q := sequence{dev: x.dev, graph: g, top: g, prog: x.prog, stream: own, controls: &p.controls}
	nodes, err := q.piece(ops, before)
	if err != nil {
		return 0, err
	}
	exec, err := x.dev.Instantiate(g)
	if err != nil {
		return 0, err
	}
	p.execs = append(p.execs, exec)
	for v, n := range nodes {
		put(&p.node, v, groupNode{exec, n})
	}
	p.instantiated(exec)
	return exec, nil
}

// piece adds operations, which follow each other as in the schedule, and returns their nodes. Predecessors outside them
// are left out.
func (q *sequence) piece(ops []ir.OpID, before [][]ir.OpID) (nodes map[ir.OpID]device.Node, err error) {
	nodes = make(map[ir.OpID]device.Node, len(ops))
	var deps []device.Node
	for _, v := range ops {
		deps = deps[:0]
		for _, u := range before[v] {
			if n, inside := nodes[u]; inside {
				deps = append(deps, n)
			}
		}
		if nodes[v], err = q.node(v, deps); err != nil {
			return nil, q.prog.error(v, err)
		}
	}
	return nodes, nil
}

func destroyLayers(dev device.Device, layers []layer) (errs []error) {
	for _, l := range layers {
		for i := range l.pieces {
			errs = append(errs, l.pieces[i].destroy(dev)...)
		}
	}
	return errs
}

// Units implements segments.Program, as do the following methods.
func (s *segmented) Units() []segments.Unit { return s.units }

func (s *segmented) Longest(from int, within time.Duration) int {
	for from >= 0 && from < len(s.units) {
		t := s.fitting(from, within)
		if t == nil {
			break
		}
		from, within = t.end, within-t.took
	}
	return from
}

// fitting returns the coarsest piece that begins with a unit and is predicted to take no longer than a time, or nil.
func (s *segmented) fitting(unit int, within time.Duration) *tile {
	for i := range s.tiles[unit] {
		if t := &s.tiles[unit][i]; t.took <= within {
			return t
		}
	}
	return nil
}

// ending returns the coarsest piece that begins with a unit and ends at or before another.
func (s *segmented) ending(unit, to int) *tile {
	for i := range s.tiles[unit] {
		if t := &s.tiles[unit][i]; t.end <= to {
			return t
		}
	}
	panic("BUG: no piece is a single unit")
}

func (s *segmented) Predicted(from, to int) (sum time.Duration) {
	for from >= 0 && from < to && to <= len(s.units) {
		t := s.ending(from, to)
		from, sum = t.end, sum+t.took
	}
	return sum
}

func (s *segmented) Submit(stream device.Stream, from, to int) error {
	x := s.exec
	if x.impl != s {
		return errWithdrawn
	}
	if err := x.begin(); err != nil {
		return err
	}
	defer x.end()
	if err := cmp.Or(s.check(from, to), s.runner.midway()); err != nil {
		return err
	}
	if err := x.stale(); err != nil {
		return err
	}
	for from < to {
		t := s.ending(from, to)
		if err := s.run(stream, &s.layers[t.layer].pieces[t.item]); err != nil {
			return fmt.Errorf("replay %d of %s: segments %d to %d: %w", x.stats.Replays, x.prog.sched.Graph.Name, from, t.end-1, err)
		}
		from, s.cursor = t.end, t.end
	}
	if s.cursor == len(s.units) {
		s.cursor = 0
		x.stats.Replays++
	}
	return nil
}

// check returns an error unless the units [from, to) exist and from is the first one or the next.
func (s *segmented) check(from, to int) error {
	switch {
	case from < 0 || from >= to || to > len(s.units):
		return fmt.Errorf("there are no segments %d to %d of %d", from, to-1, len(s.units))
	case from != 0 && from != s.cursor:
		return fmt.Errorf("segment %d does not follow the last one submitted: submit %d next, or 0 to begin a replay", from, s.cursor)
	}
	return nil
}

// run enqueues a piece.
func (s *segmented) run(stream device.Stream, p *pieceGraphs) error {
	for _, step := range p.steps {
		var err error
		if step.exec != 0 {
			err = s.exec.dev.LaunchGraph(step.exec, stream)
		} else {
			err = s.exec.dev.Submit(stream, s.exec.prog.work[step.prefetch])
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (s *segmented) Close() error {
	x := s.exec
	if x.impl != s {
		return nil
	}
	x.impl = s.backend
	err := device.Join(append([]error{x.dev.SynchronizeAll(), s.runner.free()}, destroyLayers(x.dev, s.layers)...)...)
	s.layers, s.runner = nil, nil
	return x.of("close the segments of", err)
}

// update sets the work of operations as a whole, then in the pieces that they belong to.
func (s *segmented) update(works []opWork) (int, error) {
	if at, err := s.backend.update(works); err != nil {
		return at, err
	}
	for i, w := range works {
		outer := s.outermost(w.op)
		for _, l := range s.layers {
			if err := s.set(&l.pieces[l.owner[outer]], w); err != nil {
				return i, err
			}
		}
		if err := s.runner.update(w); err != nil {
			return i, err
		}
	}
	return 0, nil
}

// outermost returns the operation of the outermost schedule that is or contains an operation.
func (s *segmented) outermost(op ir.OpID) ir.OpID {
	q, v := s.exec.prog.find(op)
	for q.place.of != nil {
		q, v = q.place.of, q.place.op
	}
	return v
}

// set updates the node of an operation in a piece. A prefetch has none and is read from the program.
func (s *segmented) set(p *pieceGraphs, w opWork) error {
	if p.holds(s.exec.prog, w.op) {
		return p.controls.update(s.exec.dev, w)
	}
	if n, is := p.node[w.op]; is {
		return s.exec.dev.UpdateNode(n.exec, n.node, w.work)
	}
	return nil
}

func (s *segmented) keeps(op ir.OpID) bool {
	return s.backend.keeps(op) || !moves(s.exec.prog.workOf(op))
}

// rebuild instantiates the pieces, the runner and the whole again. If one fails, all remain as they were.
func (s *segmented) rebuild() error {
	dev := s.exec.dev
	if err := dev.SynchronizeAll(); err != nil {
		return err
	}
	layers, err := s.build()
	if err != nil {
		return err
	}
	next, err := s.runner.rebuild()
	if err == nil {
		err = s.backend.rebuild()
	}
	if err != nil {
		return device.Join(append([]error{err, next.free()}, destroyLayers(dev, layers)...)...)
	}
	was := s.layers
	s.layers = layers
	return device.Join(append(destroyLayers(dev, was), s.runner.replace(next))...)
}

func (s *segmented) close() error {
	err := device.Join(append(destroyLayers(s.exec.dev, s.layers), s.runner.free(), s.backend.close())...)
	s.runner = nil
	return err
}
