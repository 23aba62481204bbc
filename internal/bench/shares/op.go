package shares

import (
	"encoding/binary"
	"slices"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/ptx/rewrite"
	"github.com/reprise-gpu/reprise/internal/sharing"
)

// op is an operation of a program.
type op struct {
	work  device.Work
	deps  []int // operations of the same stage that must have ended
	part  *ranged
	bound sharing.Bound
}

// ranged is the form of a kernel that runs a range of its blocks.
type ranged struct {
	function device.Function
	result   *rewrite.Result
}

// blocks returns the number of blocks of a launch that can be cut, and 0 for other work.
func (o *op) blocks() uint32 {
	l, ok := o.work.(*device.Launch)
	if !ok || o.part == nil || l.Cooperative {
		return 0
	}
	return uint32(l.Grid.Count())
}

// slice returns the launch of count blocks from first on.
func (o *op) slice(first, count uint32) (*device.Launch, error) {
	l := *o.work.(*device.Launch)
	values, err := o.part.result.RangeArguments([3]uint32{l.Grid.X, l.Grid.Y, l.Grid.Z}, first)
	if err != nil {
		return nil, err
	}
	l.Params = slices.Clone(l.Params)
	for len(l.Params)%4 != 0 {
		l.Params = append(l.Params, 0)
	}
	for _, v := range values {
		l.Params = binary.LittleEndian.AppendUint32(l.Params, v)
	}
	l.Function, l.Grid = o.part.function, device.Dim3{X: count, Y: 1, Z: 1}
	return &l, nil
}
