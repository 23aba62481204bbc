package distribute

import (
	"fmt"
	"slices"
	"strings"

	"github.com/reprise-gpu/reprise/internal/sentinel"
	"github.com/reprise-gpu/reprise/ir"
)

// MemoryError reports that a device, or the host of a rank, has too little memory for a plan.
type MemoryError struct {
	Device    int // in its rank; -1 for the host
	Rank      int
	Need, Has int64        // bytes
	Buffers   []BufferNeed // of a device
}

// BufferNeed is the memory that a device needs for a buffer.
type BufferNeed struct {
	Name   string
	Lo, Hi int64 // the part of the buffer, in bytes
	Of     int64 // size of the buffer, in bytes
}

// Is reports whether kind is that of missing memory.
func (e *MemoryError) Is(kind error) bool { return kind == sentinel.ErrOutOfMemory }

func (e *MemoryError) Error() string {
	if e.Device < 0 {
		return fmt.Sprintf("distribute: rank %d needs %d bytes of host memory for transfers and has %d: use more ranks or a smaller problem", e.Rank, e.Need, e.Has)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "distribute: device %d of rank %d needs %d bytes and has %d: use more devices or a smaller problem", e.Device, e.Rank, e.Need, e.Has)
	for _, n := range e.Buffers {
		fmt.Fprintf(&b, "\n  %14d  %s[%d:%d] of %d", n.Hi-n.Lo, n.Name, n.Lo, n.Hi, n.Of)
	}
	return b.String()
}

// fits returns an error for the first device that has too little memory, or rank whose host has. That of a device lists its
// buffers, the largest first.
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
	if slices.Max(append([]int64{0}, p.Layout.Host...)) == 0 {
		return nil
	}
	for rank, need := range p.Staging() {
		if has := p.Layout.Host[rank]; has > 0 && need > has {
			return &MemoryError{Device: -1, Rank: rank, Need: need, Has: has}
		}
	}
	return nil
}

// Staging returns, by rank, the bytes of pinned host memory through which a rank sends and receives: its messages and all bytes
// of gatherings, and the copies between its devices that are no peers. Rounds do not share this memory.
func (p *Plan) Staging() []int64 {
	ranks, gathered := make([]int64, p.Layout.Ranks()), int64(0)
	for r := range p.Rounds {
		for x := range p.Rounds[r].Exchanges {
			for _, part := range p.Rounds[r].Exchanges[x].Parts {
				if part.To < 0 {
					gathered += part.Bytes.Hi - part.Bytes.Lo
					continue
				}
				ranks[part.From] += part.Bytes.Hi - part.Bytes.Lo
				ranks[part.To] += part.Bytes.Hi - part.Bytes.Lo
			}
		}
		for i := range p.Rounds[r].Ops {
			if op := &p.Rounds[r].Ops[i]; op.Kind == Out && op.Exchange < 0 {
				ranks[p.Layout.Devices[op.Device].Rank] += op.Bytes.Hi - op.Bytes.Lo
			}
		}
	}
	for rank := range ranks {
		ranks[rank] += gathered
	}
	return ranks
}
