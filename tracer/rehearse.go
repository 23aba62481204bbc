package tracer

import (
	"fmt"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/absent"
	"github.com/reprise-gpu/reprise/internal/lower"
	"github.com/reprise-gpu/reprise/ir"
)

// Recorded implements traced.Trace.
func (tr view) Recorded() *ir.Graph {
	if tr.Trace == nil {
		return nil
	}
	return tr.Graph
}

// Rehearse implements traced.Trace. Whatever operations write is kept in device memory meanwhile, which costs two copies
// of it. Temporaries that had no memory have none again afterwards.
func (tr view) Rehearse(dev any, f func(run func() error) error) (err error) {
	on, ok := dev.(device.Device)
	switch {
	case tr.Trace == nil || tr.t == nil:
		return errNoTrace
	case absent.Is(dev):
		return absent.Nil("the device")
	case f == nil:
		return absent.Nil("the function to rehearse with")
	case tr.closed:
		return fmt.Errorf("trace %s: %w", tr.Graph.Name, ErrClosed)
	case !ok || !sameDevice(on, tr.t.dev):
		return fmt.Errorf("trial run of trace %s: %w: record the program on this one", tr.Graph.Name, device.ErrOtherDevice)
	}
	t := tr.t
	if err := t.lost(); err != nil {
		return fmt.Errorf("trial run of trace %s: %w", tr.Graph.Name, err)
	}
	r := rehearsal{Tracer: &Tracer{dev: t.dev, mode: Direct, graph: tr.Graph, buffers: t.bound(), modules: t.modules}}
	if r.stream, err = t.dev.CreateStream(0); err != nil {
		return fmt.Errorf("trial run of trace %s: %w", tr.Graph.Name, err)
	}
	defer func() {
		if err = device.Join(err, r.end()); err != nil {
			err = fmt.Errorf("trial run of trace %s: %w", tr.Graph.Name, err)
		}
	}()
	if err := t.dev.SynchronizeAll(); err != nil { // the program may be running
		return err
	}
	if err := r.begin(); err != nil {
		return err
	}
	return f(r.run)
}

// rehearsal runs a trace and restores the memory that the trace has written:
//
//	begin   lend memory to temporaries; copy the written bytes to the shadow
//	run     submit every operation to one stream, as often as the caller wants
//	end     copy the shadow back; free it and the lent memory
type rehearsal struct {
	*Tracer
	kept   []keep
	shadow device.Ptr    // one allocation with the saved contents of all of kept; 0 for none
	lent   []ir.BufferID // temporaries that have memory during the rehearsal only, ascending
	saved  bool          // the shadow holds the contents, so that end restores them
}

// keep is a range of memory that operations write, and the place of its saved contents.
type keep struct {
	at, shadow device.Ptr
	bytes      int64
	name       string // of the buffer, for labels
}

// begin allocates memory for buffers that have none and saves what operations write. Of each buffer it
// saves one range, the smallest that holds all writes. Lent memory has no contents to save.
func (r *rehearsal) begin() error {
	used, written := make([]bool, len(r.graph.Buffers)), make([]ir.Range, len(r.graph.Buffers))
	var scratch [2]ir.Access
	for v := range r.graph.Ops {
		for _, a := range r.graph.Ops[v].Accesses(&scratch) {
			used[a.Buffer] = true
			if w := &written[a.Buffer]; a.Mode.Writes() && !a.Empty() {
				if w.Empty() {
					*w = a.Range
				}
				w.Lo, w.Hi = min(w.Lo, a.Lo), max(w.Hi, a.Hi)
			}
		}
	}
	variables, err := r.variables()
	if err != nil {
		return err
	}
	for id := range written {
		b, w := ir.BufferID(id), written[id]
		at, is := variables[b]
		if !is && used[id] {
			if err := r.lend(b); err != nil {
				return err
			}
			at = r.buffers[id].now()
		}
		if !w.Empty() && !r.isLent(b) {
			r.kept = append(r.kept, keep{at: at + device.Ptr(w.Lo), bytes: w.Hi - w.Lo, name: "@" + r.graph.Buffers[id].Name})
		}
	}
	return r.save()
}

// variables returns the addresses of module-scope variables by the buffers that stand for them.
func (r *rehearsal) variables() (map[ir.BufferID]device.Ptr, error) {
	at := map[ir.BufferID]device.Ptr{}
	for _, m := range r.modules {
		for name, span := range m.symbols {
			p, _, err := r.dev.Global(m.handle, name)
			if err != nil {
				return nil, err
			}
			at[span.Buffer] = p
		}
	}
	return at, nil
}

// lend allocates memory for a temporary that has none, until end.
func (r *rehearsal) lend(id ir.BufferID) error {
	if r.buffers[id].now() != 0 {
		return nil
	}
	if err := r.back(id); err != nil {
		return err
	}
	r.lent = append(r.lent, id)
	return nil
}

// isLent reports whether the memory of id is lent. begin calls it right after lend, so id can only be
// the last entry.
func (r *rehearsal) isLent(id ir.BufferID) bool {
	return len(r.lent) > 0 && r.lent[len(r.lent)-1] == id
}

// save copies the contents on the device, not through the host, so that a device that tracks
// uninitialized bytes restores that state as well. All copies share one allocation, since an allocation
// takes longer than a copy.
func (r *rehearsal) save() (err error) {
	total := int64(0)
	for i := range r.kept {
		r.kept[i].shadow = device.Ptr(total)
		total += (r.kept[i].bytes + keepAlign - 1) &^ (keepAlign - 1)
	}
	if total == 0 {
		return nil
	}
	if r.shadow, err = r.dev.Alloc(total); err != nil {
		return fmt.Errorf("%d bytes to keep what the program writes: %w", total, err)
	}
	for i := range r.kept {
		k := &r.kept[i]
		k.shadow += r.shadow
		if err = r.dev.Submit(r.stream, &device.Copy{Dst: k.shadow, Src: k.at, Bytes: k.bytes, Label: "keep " + k.name}); err != nil {
			return err
		}
	}
	r.saved = true
	return r.dev.Synchronize(r.stream)
}

// keepAlign is the alignment of saved ranges in the shadow, in bytes: that of allocations.
const keepAlign = 256

// run runs every operation once.
func (r *rehearsal) run() error {
	for v := range r.graph.Ops {
		op := &r.graph.Ops[v]
		if err := r.runOp(op); err != nil {
			return fmt.Errorf("%v at %v: %w", ir.OpID(v), op.Pos, err)
		}
	}
	return r.dev.Synchronize(r.stream)
}

// runOp submits one operation. It skips host calls.
func (r *rehearsal) runOp(op *ir.Op) error {
	var s lower.Settings
	switch op.Kind {
	case ir.KindHost:
		return nil
	case ir.KindLaunch:
		s.Function = r.modules[op.Launch.Module].kernels[op.Launch.Entry].function
		s.Label = fmt.Sprintf("%s at %v", op.Launch.Entry, op.Pos)
	}
	w := lower.Work(op, &s, values{r.Tracer})
	if _, nothing := w.(device.Nothing); nothing {
		return nil
	}
	return r.dev.Submit(r.stream, w)
}

// end restores the saved contents and frees the memory and the stream of the rehearsal. It goes on after
// an error and returns all of them.
func (r *rehearsal) end() error {
	var errs []error
	for _, k := range r.kept {
		if r.saved {
			errs = append(errs, r.dev.Submit(r.stream, &device.Copy{Dst: k.at, Src: k.shadow, Bytes: k.bytes, Label: "put back " + k.name}))
		}
	}
	errs = append(errs, r.dev.Synchronize(r.stream))
	if r.shadow != 0 {
		errs = append(errs, r.dev.Free(r.shadow))
	}
	for _, id := range r.lent {
		errs = append(errs, r.dev.Free(r.buffers[id].ptr))
		r.buffers[id].ptr = 0
	}
	return device.Join(append(errs, r.dev.DestroyStream(r.stream))...)
}
