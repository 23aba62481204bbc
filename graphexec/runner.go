package graphexec

import (
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"math"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/graphexec/internal/parts"
	"github.com/reprise-gpu/reprise/internal/schedules"
	"github.com/reprise-gpu/reprise/internal/segments"
	"github.com/reprise-gpu/reprise/internal/until"
	"github.com/reprise-gpu/reprise/ir"
)

// runner implements segments.Runner: the units of a program as one graph, which runs them until a flag is set.
//
//	graph    begin ─► while ─► report
//	                    │
//	body                └─ switch ─► advance
//	                         │
//	bodies                   └─ unit 0 │ unit 1 │ …
//
// The kernels begin and advance are segments_begin and segments_advance of until.cu. Advance moves the cursor, by which the
// switch selects the next unit, and ends the loop if the flag stops the launch.
//
// Launches are numbered, and the flag holds the number of the last launch that stops. Each launch is thus begun with a clear
// flag, although the host never clears it: a Stop and a later Launch need no order on the device.
type runner struct {
	of      *segmented
	graph   groups        // one graph
	state   device.Ptr    // struct run of until.cu
	flag    parts.Mailbox // the host's copy of the flag
	report  parts.Mailbox // receives the words of the state before left
	stops   device.Stream // for copies to the flag
	begin   device.Node
	left    uint32 // units that begin has as its parameter
	begins  func(left uint32) *device.Launch
	number  uint32 // of launches
	counted uint32 // of reported replays: those in the statistics of the Exec
	base    int    // replays of runners before a rebuild
}

var (
	errRunner = errors.New("the segments.Program already has a Runner: close that first")
	errRest   = errors.New("a launch of segments has not ended: wait for its stream")
)

// Runner implements segments.Program.
func (s *segmented) Runner() (segments.Runner, error) {
	x := s.exec
	if x.impl != s {
		return nil, errWithdrawn
	}
	if err := x.begin(); err != nil {
		return nil, err
	}
	defer x.end()
	if s.runner != nil {
		return nil, errRunner
	}
	if err := x.midway(); err != nil {
		return nil, err
	}
	r, err := s.newRunner()
	if err != nil {
		return nil, x.of("segments on the device of", err)
	}
	s.runner, x.blank = r, maps.Clone(x.prog.settings.off)
	return r, nil
}

// newRunner instantiates the present program. On an error it frees what it has created.
func (s *segmented) newRunner() (_ *runner, err error) {
	r := &runner{of: s, left: 1}
	dev, prog := s.exec.dev, s.exec.prog
	looper, ok := dev.(device.Looper)
	if !ok {
		return nil, errNoLooper
	}
	for v, w := range prog.work {
		if moves(w) {
			return nil, prog.error(ir.OpID(v), &device.Error{Call: "AddNode", Code: device.NotSupported, Detail: "a graph cannot hold a prefetch: submit the segments one by one"})
		}
	}
	defer func() {
		if err != nil {
			err = device.Join(err, r.free())
		}
	}()
	if r.stops, err = dev.CreateStream(dev.Info().GreatestPriority); err != nil {
		return nil, err
	}
	if err := r.allocate(); err != nil {
		return nil, err
	}
	return r, r.build(looper)
}

// allocate allocates the state, with zeros, and what the host shares.
func (r *runner) allocate() (err error) {
	dev := r.of.exec.dev
	if r.state, err = dev.Alloc(until.RunBytes); err != nil {
		return err
	}
	if r.flag, err = parts.NewMailbox(dev, 4); err != nil {
		return err
	}
	if r.report, err = parts.NewMailbox(dev, until.RunLeft); err != nil {
		return err
	}
	clear(r.report.Bytes)
	return dev.Write(r.state, make([]byte, until.RunBytes))
}

// build instantiates the graph.
func (r *runner) build(looper device.Looper) (err error) {
	x := r.of.exec
	dev, name := x.dev, x.prog.sched.Graph.Name
	g, err := dev.CreateGraph()
	if err != nil {
		return err
	}
	r.graph.graphs = append(r.graph.graphs, g)
	if err := r.graph.load(dev); err != nil {
		return err
	}
	loop, err := looper.CreateCondition(g, 0)
	if err != nil {
		return err
	}
	choice, err := looper.CreateCondition(g, 0)
	if err != nil {
		return err
	}
	kernel := func(entry, label string) (func(number uint32) *device.Launch, error) {
		f, err := dev.Function(r.graph.module, entry)
		return func(number uint32) *device.Launch {
			return until.Launch(f, label+name, loop, []device.Ptr{device.Ptr(choice), r.state}, binary.LittleEndian.AppendUint32(nil, number))
		}, err
	}
	if r.begins, err = kernel("segments_begin", "begin segments of "); err != nil {
		return err
	}
	advance, err := kernel("segments_advance", "end of a segment of ")
	if err != nil {
		return err
	}
	if r.begin, err = dev.AddNode(g, nil, r.begins(r.left)); err != nil {
		return err
	}
	node, bodies, err := looper.AddConditional(g, []device.Node{r.begin}, device.Conditional{Kind: device.While, Condition: loop, Bodies: 1, Label: "segments of " + name})
	if err != nil {
		return err
	}
	chosen, err := r.units(looper, bodies[0], choice)
	if err != nil {
		return err
	}
	if _, err := dev.AddNode(bodies[0], []device.Node{chosen}, advance(uint32(len(r.of.units)))); err != nil {
		return err
	}
	report := &device.Copy{Dst: r.report.At, Src: r.state, Bytes: until.RunLeft, Label: "cursor of " + name}
	if _, err := dev.AddNode(g, []device.Node{node}, report); err != nil {
		return err
	}
	exec, err := dev.Instantiate(g)
	if err != nil {
		return err
	}
	r.graph.execs = append(r.graph.execs, exec)
	r.graph.instantiated(exec)
	return nil
}

// units adds the switch to the body of the while node.
func (r *runner) units(looper device.Looper, body device.Graph, choice device.Condition) (device.Node, error) {
	x := r.of.exec
	g := x.prog.sched.Graph
	n, bodies, err := looper.AddConditional(body, nil, device.Conditional{Kind: device.Switch, Condition: choice, Bodies: len(r.of.units), Label: "next segment of " + g.Name})
	if err != nil {
		return 0, err
	}
	before, from := schedules.Predecessors(x.prog.sched), 0
	for i, p := range levelsOf(x.prog.sched)[0].Pieces {
		q := sequence{dev: x.dev, graph: bodies[i], top: r.graph.graphs[0], nested: true, prog: x.prog, stream: r.stops, controls: &r.graph.controls}
		nodes, err := q.piece(x.prog.sched.Order[from:p.End], before)
		if err != nil {
			return 0, err
		}
		for v, n := range nodes {
			if g.Ops[v].Control == nil {
				r.graph.controls.add(v, atNode{body: bodies[i], node: n})
			}
		}
		from = p.End
	}
	return n, nil
}

// Launch implements segments.Runner, as do the following methods.
func (r *runner) Launch(stream device.Stream, units int) error {
	s := r.of
	x := s.exec
	if x.impl != s || s.runner != r {
		return errWithdrawn
	}
	if err := x.begin(); err != nil {
		return err
	}
	defer x.end()
	if units < 1 || units > math.MaxInt32 {
		return fmt.Errorf("a launch of %d segments: it has from 1 to %d", units, math.MaxInt32)
	}
	if s.cursor > 0 {
		return x.midway()
	}
	if err := x.stale(); err != nil {
		return err
	}
	exec := r.graph.execs[0]
	if n := uint32(units); n != r.left {
		if err := x.dev.UpdateNode(exec, r.begin, r.begins(n)); err != nil {
			return err
		}
		r.left = n
	}
	if err := x.dev.LaunchGraph(exec, stream); err != nil {
		return fmt.Errorf("replay %d of %s by segments on the device: %w", x.stats.Replays, x.prog.sched.Graph.Name, err)
	}
	r.number++
	return nil
}

func (r *runner) Stop() error {
	if r.of.exec.impl != r.of || r.of.runner != r {
		return errWithdrawn
	}
	binary.LittleEndian.PutUint32(r.flag.Bytes, r.number)
	return r.of.exec.dev.Submit(r.stops, &device.Copy{Dst: r.state + until.RunFlag, Src: r.flag.At, Bytes: 4, Label: "flag that stops segments"})
}

func (r *runner) Progress() (replays, unit int) {
	ended := r.reported(until.RunReplays)
	r.of.exec.stats.Replays += int(ended - r.counted)
	r.counted = ended
	return r.base + int(ended), int(r.reported(until.RunCursor))
}

// reported returns a word of the state at the end of the last launch that has ended.
func (r *runner) reported(offset int) uint32 {
	if r.report.Bytes == nil {
		return 0 // closed
	}
	return binary.LittleEndian.Uint32(r.report.Bytes[offset:])
}

// ended returns an error if a launch is in progress.
func (r *runner) ended() error {
	if r != nil && r.reported(until.RunNumber) != r.number {
		return errRest
	}
	return nil
}

// midway returns an error if a launch is in progress or has stopped in the middle of a replay.
func (r *runner) midway() error {
	if r == nil {
		return nil
	}
	if err := r.ended(); err != nil {
		return err
	}
	if _, at := r.Progress(); at > 0 {
		return fmt.Errorf("a replay by segments has stopped on the device after %d of %d: launch or reset the Runner first", at, len(r.of.units))
	}
	return nil
}

func (r *runner) Reset() error {
	if r.of.exec.impl != r.of || r.of.runner != r {
		return errWithdrawn
	}
	if err := r.ended(); err != nil {
		return err
	}
	dev := r.of.exec.dev
	reset := &device.Memset{Dst: r.state + until.RunCursor, Width: 4, Count: 1, Label: "cursor of segments"}
	if err := device.Join(dev.Submit(r.stops, reset), dev.Synchronize(r.stops)); err != nil {
		return err
	}
	binary.LittleEndian.PutUint32(r.report.Bytes[until.RunCursor:], 0)
	return nil
}

func (r *runner) Close() error {
	s := r.of
	if s.runner != r {
		return nil
	}
	err := s.exec.dev.SynchronizeAll()
	r.Progress()
	s.runner = nil
	return s.exec.of("close the segments on the device of", device.Join(err, r.free()))
}

// free frees what newRunner has created.
func (r *runner) free() error {
	if r == nil {
		return nil
	}
	dev := r.of.exec.dev
	errs := r.graph.destroy(dev)
	if r.stops != 0 {
		errs = append(errs, dev.DestroyStream(r.stops))
	}
	if r.state != 0 {
		errs = append(errs, dev.Free(r.state))
	}
	return device.Join(append(errs, r.flag.Close(dev), r.report.Close(dev))...)
}

// update sets the work of an operation.
func (r *runner) update(w opWork) error {
	if r == nil {
		return nil
	}
	return r.graph.controls.update(r.of.exec.dev, w)
}

// rebuild returns a runner of the present program, nil if there is none. No launch is in progress.
func (r *runner) rebuild() (*runner, error) {
	if r == nil {
		return nil, nil
	}
	return r.of.newRunner()
}

// replace frees a runner and makes it another one.
func (r *runner) replace(by *runner) error {
	if r == nil {
		return nil
	}
	by.base, _ = r.Progress()
	err := r.free()
	*r = *by
	return err
}
