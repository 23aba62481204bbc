package shares

import (
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/device/model"
	"github.com/reprise-gpu/reprise/internal/sharing"
	"github.com/reprise-gpu/reprise/internal/sharing/local"
)

// pieces is a stage as units: whole operations, or ranges of the blocks of one. It implements local.Work.
type pieces struct {
	dev   device.Device
	ops   []op
	parts []part
	units []sharing.Unit
	graph device.GraphExec // of the whole stage; 0 if there is none
}

// part is the blocks of an operation that a unit runs, or the whole operation.
type part struct {
	op           int
	first, count uint32 // of blocks; count is 0 for the whole operation
}

// Units implements local.Work.
func (p *pieces) Units() []sharing.Unit { return p.units }

// Submit implements local.Work. Adjacent ranges of one operation become one launch.
func (p *pieces) Submit(s device.Stream, first, n int) error {
	if n == len(p.units) && p.graph != 0 {
		return p.dev.LaunchGraph(p.graph, s)
	}
	for i := first; i < first+n; {
		j, run := i+1, p.parts[i]
		for ; j < first+n && p.parts[j].op == run.op; j++ {
			run.count += p.parts[j].count
		}
		w, err := p.work(run)
		if err == nil {
			err = p.dev.Submit(s, w)
		}
		if err != nil {
			return err
		}
		i = j
	}
	return nil
}

// work returns the work of a part.
func (p *pieces) work(r part) (device.Work, error) {
	o := &p.ops[r.op]
	if r.count == 0 || r.count == o.blocks() {
		return o.work, nil
	}
	return o.slice(r.first, r.count)
}

// Close frees the graph.
func (p *pieces) Close() error {
	if p.graph == 0 {
		return nil
	}
	return p.dev.DestroyGraphExec(p.graph)
}

// maxJoined is the number of ranges that are joined to measure what one adds.
const maxJoined = 4

// builder makes the forms of programs on a device, and remembers the times of work.
type builder struct {
	dev    device.Device
	stream device.Stream
	times  map[timeKey]time.Duration
	alone  time.Duration // what a launch takes longer if it is timed alone than behind another one
}

type timeKey struct {
	function device.Function
	grid     device.Dim3
	block    device.Dim3
	shared   uint32
	params   string
}

func newBuilder(dev device.Device) (*builder, error) {
	s, err := dev.CreateStream(0)
	return &builder{dev: dev, stream: s, times: map[timeKey]time.Duration{}}, err
}

// launches measures what a launch takes longer alone than behind another one.
func (b *builder) launches(w device.Work) error {
	once := func() error { return b.dev.Submit(b.stream, w) }
	one, err := local.Timed(b.dev, b.stream, once)
	if err != nil {
		return err
	}
	two, err := local.Timed(b.dev, b.stream, func() error { return device.Join(once(), once()) })
	b.alone = max(0, 2*one-two)
	return err
}

func (b *builder) close() error { return b.dev.DestroyStream(b.stream) }

// build makes the stages of a program for the form of a policy. cut allows kernels to be cut by their blocks.
func (b *builder) build(in *instance, f sharing.Form, cut bool) (list []local.Work, err error) {
	for i := range in.stages {
		s := &in.stages[i]
		if i > 0 && s.planned != nil && s.planned == in.stages[i-1].planned {
			list = append(list, list[i-1])
			continue
		}
		w, err := b.stage(s, f, cut)
		if w != nil {
			list = append(list, w)
		}
		if err != nil {
			return list, fmt.Errorf("stage %d of %s: %w", i, in.name, err)
		}
	}
	return list, nil
}

// stage makes a stage. After an error the result, if any, must be closed.
func (b *builder) stage(s *stage, f sharing.Form, cut bool) (_ local.Work, err error) {
	if s.planned != nil {
		return b.planned(s.planned, f, cut)
	}
	p := &pieces{dev: b.dev, ops: s.ops}
	if f.Unit != sharing.Kernels {
		if p.graph, err = graphOf(b.dev, p.ops); err != nil {
			return p, err
		}
	}
	switch {
	case f.Unit == sharing.Whole:
		return p, b.whole(p)
	case !cut:
		f.Most = 0
	}
	return p, b.cut(p, f.Most)
}

// planned makes a stage of a graph as package share does: by the pass segment, or slice.
func (b *builder) planned(p *planned, f sharing.Form, cut bool) (local.Work, error) {
	switch {
	case cut:
	case f.Unit == sharing.Segments:
		f.Unit = sharing.Whole // all is granted at once
	default:
		f.Most = 0
	}
	s, err := local.StageOf(b.dev, p.program, p.graph, f)
	if err != nil {
		return nil, err
	}
	return s, nil
}

// closeAll closes works. Equal stages follow each other and have one.
func closeAll(list []local.Work) error {
	var errs []error
	for _, w := range slices.Compact(list) {
		errs = append(errs, w.(io.Closer).Close())
	}
	return device.Join(errs...)
}

// graphOf instantiates operations as a graph.
func graphOf(dev device.Device, ops []op) (_ device.GraphExec, err error) {
	g, err := dev.CreateGraph()
	if err != nil {
		return 0, err
	}
	defer func() { err = device.Join(err, dev.DestroyGraph(g)) }()
	nodes := make([]device.Node, len(ops))
	for i := range ops {
		var deps []device.Node
		for _, d := range ops[i].deps {
			deps = append(deps, nodes[d])
		}
		if nodes[i], err = dev.AddNode(g, deps, ops[i].work); err != nil {
			return 0, err
		}
	}
	return dev.Instantiate(g)
}

// whole makes the stage one unit.
func (b *builder) whole(p *pieces) error {
	t, err := local.Timed(b.dev, b.stream, func() error { return b.dev.LaunchGraph(p.graph, b.stream) })
	p.units = []sharing.Unit{{Time: t}}
	return err
}

// cut makes each operation a unit, or several of at most a time, if its blocks allow that. 0 means no limit.
func (b *builder) cut(p *pieces, most time.Duration) error {
	for i := range p.ops {
		o := &p.ops[i]
		t, err := b.time(o.work)
		if err != nil {
			return err
		}
		u := sharing.Unit{Time: t, Next: max(1, t-b.alone), SMs: multiprocessors(b.dev, o.work), Bound: o.resource()}
		if most == 0 || t <= most || o.blocks() == 0 {
			p.parts, p.units = append(p.parts, part{op: i}), append(p.units, u)
			continue
		}
		if err := b.slices(p, i, u, most); err != nil {
			return err
		}
	}
	return nil
}

// maxLoss is the time of all ranges of an operation over its time, beyond which it is not cut.
const maxLoss = 1.3

// slices cuts an operation into ranges of equal numbers of blocks. Fewer blocks than multiprocessors take no less time, so
// a range has at least one for each. An operation of few blocks, each of which takes long, remains whole.
func (b *builder) slices(p *pieces, i int, u sharing.Unit, most time.Duration) error {
	o, whole := &p.ops[i], u
	blocks, least := o.blocks(), uint32(b.dev.Info().Multiprocessors)
	n := uint32(max(1, float64(blocks)*float64(most)/float64(u.Time)))
	for n = max(n, min(least, blocks)); ; n = max(n/4*3, least) {
		w, err := o.slice(0, min(n, blocks))
		if err != nil {
			return err
		}
		if u.Time, err = b.time(w); err != nil {
			return err
		}
		if u.Time <= most || n <= least {
			break
		}
	}
	if ranges := (blocks + n - 1) / n; float64(ranges)*float64(u.Time) > maxLoss*float64(whole.Time) && u.Time > most {
		p.parts, p.units = append(p.parts, part{op: i}), append(p.units, whole)
		return nil
	}
	next, err := b.joined(o, n, u.Time)
	if err != nil {
		return err
	}
	u.SMs, u.Next = min(u.SMs, int(n)), max(1, u.Time-b.alone)
	for first := uint32(0); first < blocks; first += n {
		p.parts = append(p.parts, part{i, first, min(n, blocks-first)})
		p.units = append(p.units, u)
		u.Next = next
	}
	return nil
}

// joined returns the time that a range of n blocks adds to a launch of the range before it, which takes first alone.
func (b *builder) joined(o *op, n uint32, first time.Duration) (time.Duration, error) {
	times := min(maxJoined, o.blocks()/n)
	if times < 2 {
		return first, nil
	}
	w, err := o.slice(0, times*n)
	if err != nil {
		return 0, err
	}
	t, err := b.time(w)
	return min(first, max(1, (t-first)/time.Duration(times-1))), err
}

// time returns the time of work alone.
func (b *builder) time(w device.Work) (time.Duration, error) {
	l, launch := w.(*device.Launch)
	key := timeKey{}
	if launch {
		key = timeKey{l.Function, l.Grid, l.Block, l.Shared, string(l.Params)}
		if t, ok := b.times[key]; ok {
			return t, nil
		}
	}
	t, err := local.Timed(b.dev, b.stream, func() error { return b.dev.Submit(b.stream, w) })
	if launch && err == nil {
		b.times[key] = t
	}
	return t, err
}

// multiprocessors returns how many multiprocessors the blocks of a launch fill, 0 for other work.
func multiprocessors(dev device.Device, w device.Work) int {
	l, ok := w.(*device.Launch)
	if !ok {
		return 0
	}
	perSM := 2048 / max(1, int(l.Block.Count()))
	if m := model.Of(dev); m != nil {
		perSM, _ = m.Limits.Occupancy(int(l.Block.Count()), 0, int(l.Shared))
	}
	perSM = max(1, perSM)
	return min(dev.Info().Multiprocessors, (int(l.Grid.Count())+perSM-1)/perSM)
}

// unitsOf returns the number of units of all stages.
func unitsOf(list []local.Work) (n int) {
	for _, w := range list {
		n += len(w.Units())
	}
	return n
}
