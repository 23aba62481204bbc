package tracer

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/absent"
	"github.com/reprise-gpu/reprise/internal/phrase"
	"github.com/reprise-gpu/reprise/internal/ptx"
	"github.com/reprise-gpu/reprise/internal/sentinel"
	"github.com/reprise-gpu/reprise/ir"
)

// load is traced.Load: it makes a trace of a saved program. It allocates the buffers, loads the modules, and writes the
// contents that the file has.
func load(dev device.Device, f *ir.File) (_ *Trace, err error) {
	if f == nil || f.Graph == nil {
		return nil, absent.Nil("the saved program")
	}
	g := *f.Graph
	t := New(dev, g.Name, Deferred)
	if t.err != nil {
		return nil, t.err
	}
	g.Trace = newIdentity()
	t.graph, g.Buffers = &g, slices.Clone(g.Buffers)
	for _, s := range g.Shapes {
		t.shapes.ID(s)
	}
	published := g
	tr := &Trace{Graph: &published, t: t}
	defer func() {
		t.err = errFinished
		if err != nil {
			err = device.Join(fmt.Errorf("load %s: %w", g.Name, err), tr.Close())
		}
	}()
	if err := t.loadModules(); err != nil {
		return nil, err
	}
	if err := t.loadBuffers(); err != nil {
		return nil, err
	}
	for i := range g.Params {
		t.params[g.Params[i].Name] = Param{t: t, id: ir.ParamID(i)}
	}
	if err := tr.loadKernels(&published); err != nil {
		return nil, err
	}
	return tr, tr.fill(f.Contents)
}

// loadModules loads the modules of the graph. A variable of a module is a buffer of the graph, by its name.
func (t *Tracer) loadModules() error {
	for i := range t.graph.Modules {
		d := &t.graph.Modules[i]
		if d.Source == "" {
			return fmt.Errorf("the file has no PTX of module %s, which only a plan does without: add the section %q, or save the program with Trace.Save", d.Name, d.File)
		}
		m := &Module{t: t, requested: d.File, id: ir.ModuleID(i), kernels: map[string]*Kernel{}, symbols: map[string]ir.Range{}}
		if err := m.load(d.Source); err != nil {
			return err
		}
		for _, v := range m.ast.Statics() {
			id := slices.IndexFunc(t.graph.Buffers, func(b ir.Buffer) bool { return b.Name == d.Name+"."+v.Name })
			if id >= 0 && v.Space == ptx.Global && t.graph.Buffers[id].Size() == v.Size() {
				m.symbols[v.Name] = ir.Range{Buffer: ir.BufferID(id), Hi: v.Size()}
			}
		}
	}
	return nil
}

// isVariable reports whether a buffer stands for a variable of a module, whose memory the module has.
func (t *Tracer) isVariable(id ir.BufferID) bool {
	for _, m := range t.modules {
		for _, s := range m.symbols {
			if s.Buffer == id {
				return true
			}
		}
	}
	return false
}

// loadBuffers allocates the buffers of the graph.
func (t *Tracer) loadBuffers() error {
	for i := range t.graph.Buffers {
		buf := &t.graph.Buffers[i]
		t.names[buf.Name]++
		a := allocation{}
		var err error
		switch {
		case t.isVariable(ir.BufferID(i)):
		case buf.Place.Kind == ir.PageableHost:
			err = errors.New("pageable memory cannot take part in a replay: make it pinned")
		case buf.Place.Kind == ir.OnDevice && buf.Place.Device != 0:
			err = fmt.Errorf("it is on device %d, and a trace is of one device: write device(0)", buf.Place.Device)
		default:
			if err = t.fits(buf); err == nil {
				a, err = t.allocate(buf, 0)
			}
		}
		if err != nil {
			return fmt.Errorf("buffer @%s of %d bytes: %w", buf.Name, buf.Size(), err)
		}
		t.buffers = append(t.buffers, a)
	}
	return nil
}

// loadKernels finds the kernels of all launches of a graph and its bodies.
func (tr *Trace) loadKernels(g *ir.Graph) error {
	for i := range g.Ops {
		op := &g.Ops[i]
		if op.Control != nil {
			for _, body := range op.Control.Bodies {
				if err := tr.loadKernels(body); err != nil {
					return err
				}
			}
		}
		if op.Launch == nil {
			continue
		}
		if err := tr.loadKernel(op, g); err != nil {
			return fmt.Errorf("%v %s: %w", ir.OpID(i), op.Launch.Entry, err)
		}
	}
	return nil
}

// loadKernel finds the kernel of a launch. As in a plan from text, the slices of the launch are the uses that it declares.
func (tr *Trace) loadKernel(op *ir.Op, g *ir.Graph) error {
	t, l := tr.t, op.Launch
	m := t.modules[l.Module]
	k := m.kernels[l.Entry]
	if k == nil {
		k = &Kernel{module: m, entry: l.Entry}
		before := len(t.graph.Buffers)
		if err := k.find(nil); err != nil {
			return err
		}
		if more := t.graph.Buffers[before:]; len(more) > 0 {
			return fmt.Errorf("it uses the variable @%s of its module, and the graph has no such buffer: save the program again", more[0].Name)
		}
	}
	if tr.kernelOf(l, len(t.buffers)) == nil {
		return fmt.Errorf("the arguments do not fit: the kernel takes %s", k.takes())
	}
	if slices.ContainsFunc(l.Args, func(a ir.Arg) bool { return a.Kind == ir.ArgParam }) {
		if t.promises == nil {
			t.promises = map[*ir.Launch][]ir.Range{}
		}
		t.promises[l] = used(g, op)
	}
	return nil
}

// fill writes the contents of a file.
func (tr *Trace) fill(all []ir.Contents) error {
	for i := range all {
		c := &all[i]
		buf := &tr.Graph.Buffers[c.Buffer]
		if tr.t.isVariable(c.Buffer) {
			return fmt.Errorf("contents of @%s, which is a variable of a module: its first value is in the PTX", buf.Name)
		}
		if err := Write(tr.buffer(c.Buffer), c.Bytes(buf)); err != nil {
			return err
		}
	}
	return nil
}

// buffer returns a whole buffer of the trace.
func (tr *Trace) buffer(id ir.BufferID) Buffer {
	return Buffer{t: tr.t, memory: memory{id: id}, hi: tr.t.graph.Buffers[id].Size()}
}

// Buffer returns the buffer of a name, for Read and Write. The error lists the buffers if there is none.
func (tr *Trace) Buffer(name string) (Buffer, error) {
	if tr == nil || tr.t == nil {
		return Buffer{}, errNoTrace
	}
	names := make([]string, len(tr.t.buffers))
	for id := range names {
		if names[id] = tr.t.graph.Buffers[id].Name; names[id] == name {
			return tr.buffer(ir.BufferID(id)), nil
		}
	}
	hint := ""
	if near := phrase.Nearest(name, names); near != "" {
		hint = fmt.Sprintf(" (did you mean @%s?)", near)
	}
	return Buffer{}, sentinel.Errorf(sentinel.ErrUnknown, "trace %s has no buffer @%s%s; it has %s", tr.Graph.Name, name, hint, listed(tr.t.graph.Buffers))
}

// listed returns the names of buffers for an error: at most eight, then the number of the others.
func listed(buffers []ir.Buffer) string {
	const maxNames = 8
	var names []string
	for i := range buffers[:min(len(buffers), maxNames)] {
		names = append(names, "@"+buffers[i].Name)
	}
	if more := len(buffers) - maxNames; more > 0 {
		names = append(names, fmt.Sprintf("%d more", more))
	}
	return strings.Join(names, ", ")
}

// BindHost sets the function of all host calls with a label. A program that was loaded from a file needs it before it is
// compiled, since a file has no functions. The error lists the labels if there is no such call.
func (tr *Trace) BindHost(label string, f func() error) error {
	switch {
	case tr == nil || tr.t == nil:
		return errNoTrace
	case f == nil:
		return absent.Nil("the function of host call " + label)
	}
	found, labels := false, []string{}
	for i := range tr.Graph.Ops {
		op := &tr.Graph.Ops[i]
		if op.Kind != ir.KindHost {
			continue
		}
		labels = append(labels, strconv.Quote(op.Label))
		if op.Label == label {
			tr.t.hosts[ir.OpID(i)], found = f, true
		}
	}
	switch {
	case found:
		return nil
	case len(labels) == 0:
		return sentinel.Errorf(sentinel.ErrUnknown, "trace %s has no host calls: bind none", tr.Graph.Name)
	}
	slices.Sort(labels)
	return sentinel.Errorf(sentinel.ErrUnknown, "trace %s has no host call %q: it has %s", tr.Graph.Name, label, strings.Join(slices.Compact(labels), ", "))
}
