package tracer

import (
	"fmt"

	"github.com/reprise-gpu/reprise/internal/blockmap"
	"github.com/reprise-gpu/reprise/internal/ptx/access"
	"github.com/reprise-gpu/reprise/ir"
)

// PerBlock is a buffer argument of a launch with a declaration: which of its bytes a block touches. It stands in place of
// the Buffer where that does not follow from the PTX, because the kernel loads an index from memory. Block i touches only
//
//	[i·Bytes - Before, (i+1)·Bytes + After)
//
// of the buffer or slice. In a grid of several dimensions, i is the index on the outermost axis that has more than one
// block. A declaration without bytes that a block certainly touches is an error of Tracer.Finish. A simulated device that
// detects races reports accesses to bytes that are not declared. Launches of a program that is not recorded ignore it.
type PerBlock struct {
	Buffer Buffer
	Bytes  int64 // of a block, at least 1 and at most those of the buffer
	Before int64 // further bytes in front of them, from 0 on
	After  int64 // further bytes behind them, from 0 on
}

// bufferOf returns the buffer of an argument of a launch, declared or not, and a zero Buffer for a number.
func bufferOf(arg any) Buffer {
	if d, is := arg.(PerBlock); is {
		return d.Buffer
	}
	b, _ := arg.(Buffer)
	return b
}

// declared returns the declarations of a launch with valid arguments.
func declared(args []any, params []param) (maps []ir.Map, err error) {
	for i, a := range args {
		d, is := a.(PerBlock)
		if !is {
			continue
		}
		name := fmt.Sprintf("argument %d (%s): %s", i, params[i].name, d.Buffer.name())
		switch size := d.Buffer.Bytes(); {
		case size == 0:
			return nil, fmt.Errorf("%s has no bytes: pass it without PerBlock", name)
		case d.Bytes < 1 || d.Bytes > size:
			return nil, fmt.Errorf("%s is declared with %d bytes for each block: declare from 1 to the %d that it has", name, d.Bytes, size)
		case d.Before < 0 || d.After < 0:
			return nil, fmt.Errorf("%s is declared with %d bytes before those of a block and %d after: declare 0 or more", name, d.Before, d.After)
		default:
			maps = append(maps, ir.Map{Arg: i, Size: size, Step: d.Bytes, Before: min(d.Before, size), After: min(d.After, size)})
		}
	}
	return maps, nil
}

// within returns the bytes of an argument that all blocks of a launch may touch: those declared, else all.
func within(m *ir.Map, grid ir.Dim3, b Buffer) (lo, hi int64) {
	if m == nil {
		return 0, b.Bytes()
	}
	_, n, _ := blockmap.Outermost(grid)
	lo, hi = blockmap.Bytes(m, 0, n)
	return min(lo, b.Bytes()), min(hi, b.Bytes())
}

// mostLayers is how many layers of blocks of a launch are compared with a declaration. Of more, some are, evenly spread.
const mostLayers = 64

// contradicted returns an error if a block of the launch certainly touches bytes that the declaration m excludes. The
// arguments are set.
func (r *reacher) contradicted(m *ir.Map, p *param, b Buffer, s *Shape) error {
	if r.addresses || !p.ranged || r.rows[m.Arg] < 0 {
		return nil
	}
	axis, count, _ := blockmap.Outermost(s.Grid)
	for k := range min(count, mostLayers) {
		layer := k
		if count > mostLayers {
			layer = k * (count - 1) / (mostLayers - 1)
		}
		first, blocks := [3]uint32{}, r.launch.Grid
		first[axis], blocks[axis] = uint32(layer), 1
		part := r.launch.Within(first, blocks)
		lo, hi := blockmap.Bytes(m, layer, layer+1)
		t, certain := r.footprint.Outside(&part, r.rows[m.Arg], access.Span{Lo: lo, Hi: hi})
		if !certain {
			continue
		}
		verb := "reads"
		if t.Access&access.Write != 0 {
			verb = "writes"
		}
		return fmt.Errorf("argument %d (%s): block %s is declared to touch only %s, but %s %s in thread %s (%s:%d): declare all bytes that it touches",
			m.Arg, p.name, at(t.Block), b.bytes(lo, hi), verb, b.bytes(t.Span.Lo, t.Span.Hi), at(t.Thread), r.file, t.Pos.Line)
	}
	return nil
}

// bytes names bytes of b, which count from its first one.
func (b Buffer) bytes(lo, hi int64) string {
	return fmt.Sprintf("%s[%d:%d]", b.name(), b.lo+lo, b.lo+hi)
}
