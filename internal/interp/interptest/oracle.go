// Package interptest compares the accesses of a launch, as the interpreter recorded them,
// with the footprint that package access infers from the kernel's code. The footprint must
// contain every byte that was touched.
package interptest

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"github.com/reprise-gpu/reprise/internal/interp"
	"github.com/reprise-gpu/reprise/internal/ptx"
	"github.com/reprise-gpu/reprise/internal/ptx/access"
)

// Oracle compares launches with footprints, which it caches.
type Oracle struct {
	Tally
	footprints map[*ptx.Func]*access.Footprint
}

// Tally counts the comparisons of an oracle.
type Tally struct {
	Launches int // launches compared
	Opaque   int // launches of kernels that may touch unknown memory, for which nothing is claimed
	Spans    int // results for reading, or writing, through one pointer
	Whole    int // of Spans, those that contain the whole allocation
	Exact    int // of the others, those that are the smallest range with all accesses
	Strided  int // of Spans, those with strides
	Tight    int // of Strided, those in which every byte was touched
	Certain  int // accesses that Outside returned as certain
}

func (t Tally) String() string {
	return fmt.Sprintf("%d launches compared, %d of opaque kernels; of %d spans %d are whole allocations, %d exact, %d wider than what was touched; %d have strides, of which %d hold no other bytes; %d accesses were certain",
		t.Launches, t.Opaque, t.Spans, t.Whole, t.Exact, t.Spans-t.Whole-t.Exact, t.Strided, t.Tight, t.Certain)
}

// Footprint returns the footprint of kernel f of module m.
func (o *Oracle) Footprint(m *ptx.Module, f *ptx.Func) *access.Footprint {
	fp := o.footprints[f]
	if fp == nil {
		fp = access.NewFootprint(m, f)
		if o.footprints == nil {
			o.footprints = map[*ptx.Func]*access.Footprint{}
		}
		o.footprints[f] = fp
	}
	return fp
}

// Launch is a launch that ran without a fault, with its Record. If Count is not zero, only the blocks of a box ran: Count
// blocks from First on, on each axis.
type Launch struct {
	Tree         *ptx.Module
	Entry        string
	Code         *interp.Module
	Memory       *interp.Memory
	First, Count [3]uint32
	interp.Launch
}

// analysed returns the launch as the footprint takes it.
func (l *Launch) analysed() access.Launch {
	whole := access.Launch{Grid: l.Grid, Block: l.Block, Params: l.Params}
	if l.Count == [3]uint32{} {
		return whole
	}
	return whole.Within(l.First, l.Count)
}

// Check returns an error that names bytes which the launch touched and the
// inference does not have.
func (o *Oracle) Check(l *Launch) error {
	f := l.Tree.Func(l.Entry)
	fp := o.Footprint(l.Tree, f)
	if unknown(fp.Effects) {
		o.Opaque++
		return nil
	}
	o.Launches++
	did := touched(l)
	c := o.claims(l, f, fp, did)
	for _, side := range []struct {
		verb         string
		claimed, did []interp.Span
	}{{"reads", c.read, did.read}, {"writes", c.written, did.written}} {
		if s, ok := outside(side.did, side.claimed); ok {
			return fmt.Errorf("kernel %s of %s, grid %v, block %v, params %x %s bytes %#x-%#x, which are not in its footprint %#x",
				l.Entry, l.Tree.File, l.Grid, l.Block, l.Params, side.verb, s.Lo, s.Hi, side.claimed)
		}
	}
	return o.checkCertain(l, f, fp, did)
}

// checkCertain compares accesses that Outside returns as certain with those that
// the launch made. For each pointer it searches for accesses at other addresses
// than the pointer, not below it, and not above it.
func (o *Oracle) checkCertain(l *Launch, f *ptx.Func, fp *access.Footprint, did *bytes) error {
	if l.Sample > 0 || l.Count != [3]uint32{} {
		return nil // only some of its blocks ran
	}
	at := &access.Launch{Grid: l.Grid, Block: l.Block, Params: l.Params}
	for row, p := range fp.Effects.Params {
		if p.Field < 0 || int64(p.Field)+8 > f.Params[p.Param].Size() {
			continue
		}
		pointer := binary.LittleEndian.Uint64(l.Params[f.Params[p.Param].Offset+p.Field:])
		for _, within := range []access.Span{{}, {Lo: math.MinInt64, Hi: 4}, {Lo: 4, Hi: math.MaxInt64}, {Lo: -64, Hi: 64}, {Lo: -1024, Hi: 1024}} {
			touch, ok := fp.Outside(at, row, within)
			if !ok {
				continue
			}
			o.Certain++
			s := interp.Span{Lo: pointer + uint64(touch.Span.Lo), Hi: pointer + uint64(touch.Span.Hi)}
			read, written := touch.Access&access.Read != 0, touch.Access&access.Write != 0
			if read && !covered(s, did.read) || written && !covered(s, did.written) {
				return fmt.Errorf("kernel %s of %s, grid %v, block %v, params %x was certain to touch bytes %#x-%#x at line %d in block %v, thread %v",
					l.Entry, l.Tree.File, l.Grid, l.Block, l.Params, s.Lo, s.Hi, touch.Pos.Line, touch.Block, touch.Thread)
			}
		}
	}
	return nil
}

// covered reports whether spans contain all bytes of s.
func covered(s interp.Span, spans []interp.Span) bool {
	for at := s.Lo; at < s.Hi; at++ {
		if !slices.ContainsFunc(spans, func(t interp.Span) bool { return t.Lo <= at && at < t.Hi }) {
			return false
		}
	}
	return true
}

// unknown reports whether a kernel may touch memory that the analysis cannot
// determine: any memory, or the memory that the host bound to a texture.
func unknown(e *access.Effects) bool {
	return e.Opaque != nil || slices.ContainsFunc(e.Params, func(p access.ParamAccess) bool { return p.Access == access.Unknown })
}

// bytes are what a launch reads and writes.
type bytes struct{ read, written []interp.Span }

func (b *bytes) add(did access.Access, s interp.Span) {
	if did&access.Read != 0 {
		b.read = append(b.read, s)
	}
	if did&access.Write != 0 {
		b.written = append(b.written, s)
	}
}

// touched leaves out conditions, which kernels know by handle and not by address.
func touched(l *Launch) *bytes {
	b := &bytes{}
	for _, a := range l.Record.Allocations {
		if l.Memory.IsCondition(a.Base) {
			continue
		}
		b.read = append(b.read, a.Read...)
		b.written = append(b.written, a.Written...)
		for _, k := range a.Atomic {
			b.read = append(b.read, k.Spans...)
			b.written = append(b.written, k.Spans...)
		}
	}
	return b
}

// claims are the bytes that the inference says the launch may touch: the part of
// the allocation behind each pointer that the footprint has, all of one behind a
// number that turned out to be an address, and the variables of the module.
func (o *Oracle) claims(l *Launch, f *ptx.Func, fp *access.Footprint, did *bytes) *bytes {
	c := &bytes{}
	reaches := make([]access.BoxReach, len(fp.Effects.Params))
	at := l.analysed()
	fp.EvalBoxes(&at, reaches)
	for i, p := range fp.Effects.Params {
		if p.Access == access.None && p.Offset == access.None || p.Field < 0 {
			continue
		}
		pointer := binary.LittleEndian.Uint64(l.Params[f.Params[p.Param].Offset+p.Field:])
		base, size, ok := l.Memory.Base(pointer)
		if !ok {
			continue
		}
		whole := interp.Span{Lo: base, Hi: base + uint64(size)}
		c.add(p.Offset, whole)
		if p.Access&access.Read != 0 {
			c.read = append(c.read, o.claim(whole, pointer, reaches[i].Read, did.read)...)
		}
		if p.Access&access.Write != 0 {
			c.written = append(c.written, o.claim(whole, pointer, reaches[i].Write, did.written)...)
		}
	}
	for _, s := range fp.Effects.Symbols {
		if addr, size, err := l.Code.Global(s.Name); err == nil {
			c.add(s.Access, interp.Span{Lo: addr, Hi: addr + uint64(size)})
		}
	}
	return c
}

// claim returns the bytes of an allocation in a region of a pointer, and notes how tight the
// claim is.
func (o *Oracle) claim(whole interp.Span, pointer uint64, r access.Region, did []interp.Span) []interp.Span {
	span := o.count(whole, part(whole, pointer, r.Span), did)
	b := r.Clip(int64(whole.Lo-pointer), int64(whole.Hi-pointer))
	if b.Contiguous() {
		return []interp.Span{span}
	}
	var runs []interp.Span
	b.Runs(func(lo, hi int64) bool {
		runs = append(runs, interp.Span{Lo: pointer + uint64(lo), Hi: pointer + uint64(hi)})
		return true
	})
	o.Strided++
	if _, more := outside(runs, did); !more {
		o.Tight++
	}
	return runs
}

// count notes how tight a claim is.
func (o *Oracle) count(whole, claim interp.Span, did []interp.Span) interp.Span {
	o.Spans++
	var hull interp.Span
	for _, s := range did {
		switch {
		case s.Lo < whole.Lo || s.Hi > whole.Hi:
		case hull.Hi == 0:
			hull = s
		default:
			hull = interp.Span{Lo: min(hull.Lo, s.Lo), Hi: max(hull.Hi, s.Hi)}
		}
	}
	switch {
	case claim == hull || claim.Lo >= claim.Hi && hull.Hi == 0:
		o.Exact++
	case claim == whole:
		o.Whole++
	}
	return claim
}

// part returns the bytes of an allocation in a span from a pointer.
func part(whole interp.Span, pointer uint64, s access.Span) interp.Span {
	if s.Empty() {
		return interp.Span{}
	}
	lo := max(s.Lo, int64(whole.Lo-pointer))
	hi := min(s.Hi, int64(whole.Hi-pointer))
	return interp.Span{Lo: pointer + uint64(lo), Hi: pointer + uint64(max(lo, hi))}
}

// outside finds bytes of did that are not claimed.
func outside(did, claimed []interp.Span) (interp.Span, bool) {
	claimed = joined(claimed)
	for _, s := range did {
		i, _ := slices.BinarySearchFunc(claimed, s.Lo, func(c interp.Span, at uint64) int {
			if c.Hi <= at {
				return -1
			}
			return 1
		})
		if i < len(claimed) && claimed[i].Lo <= s.Lo {
			s.Lo = claimed[i].Hi
		}
		if s.Lo < s.Hi {
			return s, true
		}
	}
	return interp.Span{}, false
}

// joined returns the bytes of spans as disjoint spans that do not touch, ascending.
func joined(spans []interp.Span) []interp.Span {
	spans = slices.Clone(spans)
	slices.SortFunc(spans, func(a, b interp.Span) int { return cmp.Compare(a.Lo, b.Lo) })
	kept := spans[:0]
	for _, s := range spans {
		if n := len(kept); n > 0 && s.Lo <= kept[n-1].Hi {
			kept[n-1].Hi = max(kept[n-1].Hi, s.Hi)
			continue
		}
		kept = append(kept, s)
	}
	return kept
}
