package ir

import "fmt"

// payload: exactly the field that the kind names is set.
func (v *verifier) payload(id OpID, op *Op) {
	switch {
	case op.Kind >= numKinds:
		v.add(id, "%v has the unknown kind %v", id, op.Kind)
	case !op.Complete():
		v.add(id, "%v %v needs exactly the operands of its kind: set the field that Kind names and no other", id, op.Kind)
	case op.Kind.isControl():
	case len(op.Uses) > 0 && op.Kind != KindLaunch && op.Kind != KindHost:
		v.add(id, "%s declares uses: those of a %v follow from its operands", v.about(id), op.Kind)
	}
}

// ids of buffers, modules and parameters are within their tables, and modes and types are known.
func (v *verifier) ids(id OpID, op *Op) {
	for _, a := range op.Accesses(&v.scratch) {
		v.bufferID(id, a.Buffer)
		if a.Mode > Reduce {
			v.add(id, "%s uses a buffer in the unknown mode %v", v.about(id), a.Mode)
		}
	}
	if op.Kind != KindLaunch {
		return
	}
	if m := op.Launch.Module; m < 0 || int(m) >= len(v.g.Modules) {
		v.add(id, "%s names module %d of %d: add the module to the graph", v.about(id), m, len(v.g.Modules))
	}
	for _, a := range op.Launch.Args {
		switch {
		case a.Kind == ArgBuffer:
			v.bufferID(id, a.Buffer)
		case a.Kind == ArgParam && (a.Param < 0 || int(a.Param) >= len(v.g.Params)):
			v.add(id, "%s names param %d of %d: add the param to the graph", v.about(id), a.Param, len(v.g.Params))
		case a.Kind > ArgParam || a.Kind == ArgScalar && a.Scalar.Type >= numTypes:
			v.add(id, "%s has an argument of unknown kind or type", v.about(id))
		}
	}
}

func (v *verifier) bufferID(id OpID, b BufferID) {
	if b < 0 || int(b) >= len(v.g.Buffers) {
		v.add(id, "%s names buffer %d of %d: add the buffer to the graph", v.about(id), b, len(v.g.Buffers))
	}
}

// ranges lie inside their buffers.
func (v *verifier) ranges(id OpID, op *Op) {
	for _, a := range op.Accesses(&v.scratch) {
		v.inside(a.Range, func(why string) { v.add(id, "%s touches %s: %s", v.about(id), rangeText(v.g, a.Range), why) })
		if a.Shape != 0 {
			v.shape(id, a)
		}
	}
}

// shape: the strides of an access of a launch are in the table, and span its range.
func (v *verifier) shape(id OpID, a Access) {
	if int(a.Shape) > len(v.g.Shapes) {
		v.add(id, "%s names shape %d of %d: add the shape to the graph", v.about(id), a.Shape, len(v.g.Shapes))
		return
	}
	if op := &v.g.Ops[id]; op.Kind != KindLaunch {
		v.add(id, "%s touches %s with strides, which only a launch has: list its ranges", v.about(id), rangeText(v.g, a.Range))
	}
	if s := v.g.Shapes[a.Shape-1]; s.Valid() && s.Extent() != a.Hi-a.Lo {
		v.add(id, "%s touches %s with strides that span %d bytes: make the range as long", v.about(id), rangeText(v.g, a.Range), s.Extent())
	}
}

// inside calls complain, with the reason, if a range does not lie in its buffer.
func (v *verifier) inside(r Range, complain func(string)) {
	switch size := v.g.Buffers[r.Buffer].Size(); {
	case r.Lo < 0:
		complain("the range starts before the buffer")
	case r.Hi < r.Lo:
		complain("the range ends before it starts")
	case r.Hi > size:
		complain(fmt.Sprintf("the buffer has %d bytes", size))
	}
}

// copy: ranges of equal size that share no byte.
func (v *verifier) copy(id OpID, op *Op) {
	if op.Kind != KindCopy {
		return
	}
	src, dst := op.Copy.Src, op.Copy.Dst
	if n, m := src.Hi-src.Lo, dst.Hi-dst.Lo; n != m {
		v.add(id, "%s moves %d bytes of %s onto the %d of %s: make the ranges equal", v.about(id), n, rangeText(v.g, src), m, rangeText(v.g, dst))
	}
	if both := src.intersect(dst); src.Overlaps(dst) {
		v.add(id, "%s reads and writes %s: copy through another buffer", v.about(id), rangeText(v.g, both))
	}
}

// memset: a pattern of 1, 2 or 4 bytes that fits a whole number of times.
func (v *verifier) memset(id OpID, op *Op) {
	if op.Kind != KindMemset {
		return
	}
	m := op.Memset
	if m.Value.Type >= numTypes || m.Value.Type.Size() > 4 {
		v.add(id, "%s fills with a pattern of type %v: use one of 1, 2 or 4 bytes", v.about(id), m.Value.Type)
		return
	}
	if n, w := m.Dst.Hi-m.Dst.Lo, m.Value.Type.Size(); n%w != 0 || m.Dst.Lo%w != 0 {
		v.add(id, "%s fills %s with a pattern of %d bytes: make start and size multiples of %d, or use u8",
			v.about(id), rangeText(v.g, m.Dst), w, w)
	}
}

// prefetch: of managed memory.
func (v *verifier) prefetch(id OpID, op *Op) {
	if op.Kind == KindPrefetch && v.g.Buffers[op.Prefetch.Range.Buffer].Place.Kind != Managed {
		v.add(id, "%s moves %s, which stays where it is: make the buffer managed", v.about(id), rangeText(v.g, op.Prefetch.Range))
	}
}

// Limits of launches, which are the same for all devices since compute capability 3.0.
const (
	maxBlock  = 1024      // threads
	maxBlockZ = 64        // threads along z
	maxGridX  = 1<<31 - 1 // blocks
	maxGridY  = 1<<16 - 1 // blocks, and along z too
)

// launch: the kernel has a name, and grid and block are within the limits of all devices.
func (v *verifier) launch(id OpID, op *Op) {
	if op.Kind != KindLaunch {
		return
	}
	l := op.Launch
	if l.Entry == "" {
		v.add(id, "%s names no kernel", v.about(id))
	}
	for _, d := range []struct {
		what string
		dim  Dim3
	}{{"grid", l.Grid}, {"block", l.Block}} {
		if d.dim.X == 0 || d.dim.Y == 0 || d.dim.Z == 0 {
			v.add(id, "%s has a %s of %d x %d x %d: every extent must be at least 1", v.about(id), d.what, d.dim.X, d.dim.Y, d.dim.Z)
		}
	}
	if d := l.Grid; d.X > maxGridX || d.Y > maxGridY || d.Z > maxGridY {
		v.add(id, "%s has a grid of %d x %d x %d: at most %d x %d x %d blocks make one", v.about(id), d.X, d.Y, d.Z, maxGridX, maxGridY, maxGridY)
	}
	if b := l.Block; uint64(b.X) > maxBlock || uint64(b.X)*uint64(b.Y) > maxBlock || b.Count() > maxBlock || b.Z > maxBlockZ {
		v.add(id, "%s has blocks of %d x %d x %d threads: a block holds at most %d, %d of them along z", v.about(id), b.X, b.Y, b.Z, maxBlock, maxBlockZ)
	}
}

// arguments that are addresses point into their buffers or just behind them.
func (v *verifier) arguments(id OpID, op *Op) {
	if op.Kind != KindLaunch {
		return
	}
	for i, a := range op.Launch.Args {
		if a.Kind != ArgBuffer {
			continue
		}
		if b := &v.g.Buffers[a.Buffer]; a.Offset < 0 || a.Offset > b.Size() {
			v.add(id, "%s passes @%s%+d as argument %d, but the buffer has %d bytes", v.about(id), b.Name, a.Offset, i, b.Size())
		}
	}
}

// maps are of different arguments, which are buffers, in ascending order, and their numbers are within the buffers.
func (v *verifier) maps(id OpID, op *Op) {
	if op.Kind != KindLaunch {
		return
	}
	l := op.Launch
	for i, m := range l.Maps {
		switch {
		case m.Arg < 0 || m.Arg >= len(l.Args) || l.Args[m.Arg].Kind != ArgBuffer:
			v.add(id, "%s declares the bytes of argument %d, which is no buffer: name one of its buffers", v.about(id), m.Arg)
			continue
		case i > 0 && m.Arg <= l.Maps[i-1].Arg:
			v.add(id, "%s declares the bytes of argument %d behind those of argument %d: list each argument once, in order", v.about(id), m.Arg, l.Maps[i-1].Arg)
		}
		a := &l.Args[m.Arg]
		if rest := v.g.Buffers[a.Buffer].Size() - a.Offset; m.Size < 1 || m.Size > rest {
			v.add(id, "%s declares %d bytes of argument %d, which has %d: declare at least 1 and at most all", v.about(id), m.Size, m.Arg, rest)
			continue
		}
		if m.Step < 1 || m.Step > m.Size || m.Before < 0 || m.Before > m.Size || m.After < 0 || m.After > m.Size {
			v.add(id, "%s declares argument %d as %d bytes for each layer of blocks, %d before and %d after: the first is from 1 to %d, the others from 0 to %d",
				v.about(id), m.Arg, m.Step, m.Before, m.After, m.Size, m.Size)
		}
	}
}

// constants are never written. A prefetch leaves the contents as they are.
func (v *verifier) constants(id OpID, op *Op) {
	if op.Kind == KindPrefetch {
		return
	}
	for _, a := range op.Accesses(&v.scratch) {
		if a.Mode.Writes() && !a.Empty() && v.g.Buffers[a.Buffer].Role == Constant {
			v.add(id, "%s writes %s, which is constant: give the buffer another role", v.about(id), rangeText(v.g, a.Range))
		}
	}
}

// after edges name earlier operations.
func (v *verifier) after(id OpID, op *Op) {
	for _, u := range op.After {
		switch {
		case u < 0 || int(u) >= len(v.g.Ops):
			v.add(id, "%s is after %v, but the graph has %d operations", v.about(id), u, len(v.g.Ops))
		case u >= id:
			v.add(id, "%s is after %v, which is not earlier in program order: list it first", v.about(id), u)
		}
	}
}
