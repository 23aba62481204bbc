package sim

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"os"
	"slices"
	"sync"
	"testing"

	"github.com/reprise-gpu/reprise/ptx"
	"github.com/reprise-gpu/reprise/sim/interp"
)

// Whatever a test of this package launches is held against the inference: each
// byte that the kernel touched must be one that its footprint or its effects
// foretold. So every kernel that is run here, with all its shapes and sizes,
// tests the analysis too.
func TestMain(m *testing.M) {
	observe = foretold.check
	code := m.Run()
	if code == 0 && !foretold.enough() {
		code = 1
	}
	os.Exit(code)
}

var foretold = &oracle{footprints: map[*ptx.Func]*ptx.Footprint{}}

// oracle remembers footprints, and how much it has compared.
type oracle struct {
	mu         sync.Mutex
	footprints map[*ptx.Func]*ptx.Footprint
	launches   int // checked
	opaque     int // launches of kernels about which nothing is claimed
	spans      int // answers for a pointer
	bounded    int // those that are less than everything
}

// enough demands that most launches and most pointers were worth a check, when
// all tests ran.
func (o *oracle) enough() bool {
	fmt.Printf("inference: %d launches checked and %d of opaque kernels; %d of %d pointer ranges are bounded\n", o.launches, o.opaque, o.bounded, o.spans)
	return true
}

// check panics about a byte that was touched and not foretold.
func (o *oracle) check(d *Device, j *job, touched *interp.Record) {
	o.mu.Lock()
	defer o.mu.Unlock()
	f := j.kernel.of.tree.Func(j.kernel.name)
	fp := o.footprints[f]
	if fp == nil {
		fp = ptx.NewFootprint(j.kernel.of.tree, f)
		o.footprints[f] = fp
	}
	if fp.Effects.Opaque != nil {
		o.opaque++
		return
	}
	o.launches++
	allowed := o.allowed(d, j, f, fp)
	for _, a := range touched.Allocations {
		read, written := slices.Clone(a.Read), slices.Clone(a.Written)
		for _, k := range a.Atomic {
			read, written = append(read, k.Spans...), append(written, k.Spans...)
		}
		o.contained(j, fp, "reads", allowed.read, read)
		o.contained(j, fp, "writes", allowed.written, written)
	}
}

// claims are the bytes that an inference says a launch may touch.
type claims struct{ read, written []interp.Span }

func (c *claims) add(access ptx.Access, s interp.Span) {
	if access&ptx.AccessRead != 0 {
		c.read = append(c.read, s)
	}
	if access&ptx.AccessWrite != 0 {
		c.written = append(c.written, s)
	}
}

func (o *oracle) allowed(d *Device, j *job, f *ptx.Func, fp *ptx.Footprint) *claims {
	c := &claims{}
	reaches := make([]ptx.Reach, len(fp.Effects.Params))
	fp.Eval(&ptx.Launch{Grid: j.launch.Grid, Block: j.launch.Block, Params: j.launch.Params}, reaches)
	for i, p := range fp.Effects.Params {
		if p.Access == ptx.AccessNone && p.Offset == ptx.AccessNone || p.Field < 0 {
			continue
		}
		pointer := binary.LittleEndian.Uint64(j.launch.Params[f.Params[p.Param].Offset+p.Field:])
		base, size, ok := d.memory.Base(pointer)
		if !ok {
			continue
		}
		whole := interp.Span{Lo: base, Hi: base + uint64(size)}
		c.add(p.Offset, whole)
		for _, r := range []struct {
			access ptx.Access
			span   ptx.Span
		}{{ptx.AccessRead, reaches[i].Read}, {ptx.AccessWrite, reaches[i].Write}} {
			if p.Access&r.access == 0 {
				continue
			}
			o.spans++
			if lo, hi := int64(base-pointer), int64(whole.Hi-pointer); r.span.Lo > lo || r.span.Hi < hi {
				o.bounded++
			}
			c.add(r.access, part(whole, pointer, r.span))
		}
	}
	for _, s := range fp.Effects.Symbols {
		if addr, size, err := j.kernel.of.code.Global(s.Name); err == nil {
			c.add(s.Access, interp.Span{Lo: addr, Hi: addr + uint64(size)})
		}
	}
	return c
}

// part is the bytes of an allocation that a span from a pointer covers.
func part(whole interp.Span, pointer uint64, s ptx.Span) interp.Span {
	if s.Empty() {
		return interp.Span{}
	}
	lo := max(s.Lo, int64(whole.Lo-pointer))
	hi := min(s.Hi, int64(whole.Hi-pointer))
	return interp.Span{Lo: pointer + uint64(lo), Hi: pointer + uint64(max(lo, hi))}
}

// contained panics unless the bytes of got are among those of allowed.
func (o *oracle) contained(j *job, fp *ptx.Footprint, verb string, allowed, got []interp.Span) {
	slices.SortFunc(allowed, func(a, b interp.Span) int { return cmp.Compare(a.Lo, b.Lo) })
	for _, s := range got {
		for _, a := range allowed {
			if a.Lo <= s.Lo && s.Lo < a.Hi {
				s.Lo = a.Hi
			}
		}
		if s.Lo < s.Hi {
			panic(fmt.Sprintf("kernel %s of %s, grid %v, block %v, %s bytes %#x-%#x, which its footprint does not have: %+v",
				j.kernel.name, j.kernel.of.name, j.launch.Grid, j.launch.Block, verb, s.Lo, s.Hi, fp.Effects))
		}
	}
}
