// Package lower turns operations of a graph into work for a device. Package tracer uses it for operations that
// run at once, and graphexec for the operations of a schedule, so both run the same work.
//
//	ir.Op  +  Settings (handles, label)  +  Values (addresses, parameters)  →  device.Work
package lower

import (
	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/blockmap"
	"github.com/reprise-gpu/reprise/ir"
)

// Values resolves the buffers and parameters of a graph.
type Values interface {
	Address(b ir.BufferID) device.Ptr // address of the first byte of the buffer
	Value(p ir.ParamID) ir.Scalar     // current value of the parameter
}

// Settings holds the properties of an operation that are not in the graph.
type Settings struct {
	Label    string
	Function device.Function // of a launch
	Grid     ir.Dim3         // of a launch; the zero value is the grid in the graph
	Priority int             // of a launch, as in device.Launch
	Host     func() error    // the function of a host call
	Off      bool            // the operation does nothing, but has its place in a graph
}

// Work returns the work of an operation. It is device.Nothing for an empty operation and for one that moves or
// fills no bytes. Loops and branches have no work of their own: graphexec builds them from their bodies.
func Work(op *ir.Op, s *Settings, v Values) device.Work {
	switch op.Kind {
	case ir.KindLaunch:
		return Launch(op.Launch, s, v)
	case ir.KindCopy:
		return transfer(op.Copy, s, v)
	case ir.KindMemset:
		return memset(op.Memset, s, v)
	case ir.KindPrefetch:
		return prefetch(op.Prefetch, s, v)
	case ir.KindHost:
		return hostCall(op, s, v)
	}
	return device.Nothing{}
}

// Launch returns the work of a launch.
func Launch(l *ir.Launch, s *Settings, v Values) *device.Launch {
	grid := s.Grid
	if grid == (ir.Dim3{}) {
		grid = l.Grid
	}
	return &device.Launch{
		Function: s.Function,
		Grid:     grid,
		Block:    l.Block,
		Shared:   l.Shared,
		Params:   Params(l.Args, v),
		Priority: s.Priority,
		Off:      s.Off,
		Label:    s.Label,
		Declared: declared(l, grid, v),
	}
}

// declared returns the declared bytes of a launch of a whole grid.
func declared(l *ir.Launch, grid ir.Dim3, v Values) []device.Declared {
	if len(l.Maps) == 0 {
		return nil
	}
	_, _, blocks := blockmap.Outermost(grid)
	return Declared(l, v, 0, blocks)
}

// Declared returns the declared bytes of a launch of which a layer has the given number of blocks, and whose blocks are
// numbered from first on. It leaves out a buffer that the launch gets in two arguments, since a check cannot tell them apart.
func Declared(l *ir.Launch, v Values, first, blocks int64) (list []device.Declared) {
	for i := range l.Maps {
		m := &l.Maps[i]
		a := &l.Args[m.Arg]
		if passes(l, a.Buffer) == 1 {
			list = append(list, device.Declared{
				Arg: m.Arg, Ptr: v.Address(a.Buffer) + device.Ptr(a.Offset), Bytes: m.Size, Step: m.Step, Before: m.Before, After: m.After, First: first, Blocks: blocks,
			})
		}
	}
	return list
}

// passes returns in how many arguments a launch gets a buffer.
func passes(l *ir.Launch, b ir.BufferID) (n int) {
	for i := range l.Args {
		if l.Args[i].Kind == ir.ArgBuffer && l.Args[i].Buffer == b {
			n++
		}
	}
	return n
}

// transfer returns the work of a copy.
func transfer(c *ir.Copy, s *Settings, v Values) device.Work {
	if c.Dst.Empty() {
		return device.Nothing{}
	}
	return &device.Copy{Dst: address(c.Dst, v), Src: address(c.Src, v), Bytes: s.extent(c.Dst), Label: s.Label}
}

// memset returns the work of a fill. The device counts in elements of the width of the value.
func memset(m *ir.Memset, s *Settings, v Values) device.Work {
	if m.Dst.Empty() {
		return device.Nothing{}
	}
	width := m.Value.Type.Size()
	return &device.Memset{Dst: address(m.Dst, v), Value: uint32(m.Value.Bits), Width: int(width), Count: s.extent(m.Dst) / width, Label: s.Label}
}

// prefetch returns the work of a prefetch.
func prefetch(p *ir.Prefetch, s *Settings, v Values) device.Work {
	if p.Range.Empty() {
		return device.Nothing{}
	}
	return &device.Prefetch{At: address(p.Range, v), Bytes: s.extent(p.Range), ToDevice: p.ToDevice, Label: s.Label}
}

// hostCall returns the work of a host call. If the operation is off, its function does nothing: the driver
// cannot disable the node of a host call.
func hostCall(op *ir.Op, s *Settings, v Values) device.Work {
	f := s.Host
	if s.Off {
		f = func() error { return nil }
	}
	var uses []device.HostUse
	for _, a := range op.Uses {
		uses = append(uses, device.HostUse{Ptr: address(a.Range, v), Bytes: a.Hi - a.Lo, Read: a.Mode.Reads(), Write: a.Mode.Writes()})
	}
	return &device.HostCall{Func: f, Label: s.Label, Uses: uses}
}

// extent returns the number of bytes of r that an operation covers: 0 if it is off.
func (s *Settings) extent(r ir.Range) int64 {
	if s.Off {
		return 0
	}
	return r.Hi - r.Lo
}

// address returns the address of the first byte of r.
func address(r ir.Range, v Values) device.Ptr { return v.Address(r.Buffer) + device.Ptr(r.Lo) }
