package distribute

import (
	"fmt"
	"slices"
	"strings"

	"github.com/reprise-gpu/reprise/ir"
)

// MemoryError reports that a device has too little memory for a plan.
type MemoryError struct {
	Device    int
	Rank      int
	Need, Has int64 // bytes
	Buffers   []BufferNeed
}

// BufferNeed is the memory that a device needs for a buffer.
type BufferNeed struct {
	Name   string
	Lo, Hi int64 // the part of the buffer, in bytes
	Of     int64 // size of the buffer, in bytes
}

func (e *MemoryError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "distribute: device %d of rank %d needs %d bytes and has %d: use more devices or a smaller problem", e.Device, e.Rank, e.Need, e.Has)
	for _, n := range e.Buffers {
		fmt.Fprintf(&b, "\n  %14d  %s[%d:%d] of %d", n.Hi-n.Lo, n.Name, n.Lo, n.Hi, n.Of)
	}
	return b.String()
}

// fits returns an error for the first device that has too little memory. The error lists its buffers, the largest first.
func (p *Plan) fits() error {
	for d, dev := range p.Layout.Devices {
		need := p.Bytes(d)
		if need <= dev.Memory {
			continue
		}
		lo, _ := p.Layout.local(dev.Rank)
		e := &MemoryError{Device: d - int(lo), Rank: int(dev.Rank), Need: need, Has: dev.Memory}
		for b, s := range p.Memory[d] {
			if s.Hi > s.Lo {
				buf := &p.Graph.Buffers[ir.BufferID(b)]
				e.Buffers = append(e.Buffers, BufferNeed{buf.Name, s.Lo, s.Hi, buf.Size()})
			}
		}
		slices.SortStableFunc(e.Buffers, func(a, b BufferNeed) int { return int(b.Hi - b.Lo - a.Hi + a.Lo) })
		return e
	}
	return nil
}
