package lower_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/lower"
	"github.com/reprise-gpu/reprise/ir"
)

func span(b ir.BufferID, lo, hi int64) ir.Range { return ir.Range{Buffer: b, Lo: lo, Hi: hi} }

func TestWorkOfEachKind(t *testing.T) {
	s := lower.Settings{Label: "op", Function: 7, Grid: ir.Dim3{X: 2, Y: 1, Z: 1}, Priority: -1}
	l := &ir.Launch{Grid: ir.Dim3{X: 1, Y: 1, Z: 1}, Block: ir.Dim3{X: 32, Y: 1, Z: 1}, Shared: 16, Args: []ir.Arg{{Kind: ir.ArgBuffer, Buffer: 1}}}
	memset := &ir.Memset{Dst: span(1, 4, 12), Value: ir.Scalar{Type: ir.U16, Bits: 5}}
	for _, c := range []struct {
		op        ir.Op
		work, off device.Work // off is the work of the operation when it is switched off
	}{
		{
			ir.Op{Kind: ir.KindLaunch, Launch: l},
			&device.Launch{Function: 7, Grid: device.Dim3{X: 2, Y: 1, Z: 1}, Block: device.Dim3{X: 32, Y: 1, Z: 1}, Shared: 16, Params: []byte{0, 0x10, 0, 0, 0, 0, 0, 0}, Priority: -1, Label: "op"},
			&device.Launch{Function: 7, Grid: device.Dim3{X: 2, Y: 1, Z: 1}, Block: device.Dim3{X: 32, Y: 1, Z: 1}, Shared: 16, Params: []byte{0, 0x10, 0, 0, 0, 0, 0, 0}, Priority: -1, Label: "op", Off: true},
		},
		{
			ir.Op{Kind: ir.KindCopy, Copy: &ir.Copy{Dst: span(1, 4, 12), Src: span(2, 0, 8)}},
			&device.Copy{Dst: 0x1004, Src: 0x2000, Bytes: 8, Label: "op"},
			&device.Copy{Dst: 0x1004, Src: 0x2000, Label: "op"},
		},
		{
			ir.Op{Kind: ir.KindMemset, Memset: memset},
			&device.Memset{Dst: 0x1004, Value: 5, Width: 2, Count: 4, Label: "op"},
			&device.Memset{Dst: 0x1004, Value: 5, Width: 2, Label: "op"},
		},
		{
			ir.Op{Kind: ir.KindPrefetch, Prefetch: &ir.Prefetch{Range: span(1, 4, 12), ToDevice: true}},
			&device.Prefetch{At: 0x1004, Bytes: 8, ToDevice: true, Label: "op"},
			&device.Prefetch{At: 0x1004, ToDevice: true, Label: "op"},
		},
		{ir.Op{Kind: ir.KindCopy, Copy: &ir.Copy{Dst: span(1, 4, 4), Src: span(2, 0, 0)}}, device.Nothing{}, device.Nothing{}},
		{ir.Op{Kind: ir.KindMemset, Memset: &ir.Memset{Dst: span(1, 4, 4), Value: memset.Value}}, device.Nothing{}, device.Nothing{}},
		{ir.Op{Kind: ir.KindPrefetch, Prefetch: &ir.Prefetch{Range: span(1, 4, 4)}}, device.Nothing{}, device.Nothing{}},
		{ir.Op{Kind: ir.KindEmpty}, device.Nothing{}, device.Nothing{}},
	} {
		on, off := s, s
		off.Off = true
		assert.Equal(t, c.work, lower.Work(&c.op, &on, values{}), "%v", c.op.Kind)
		assert.Equal(t, c.off, lower.Work(&c.op, &off, values{}), "%v off", c.op.Kind)
	}
	assert.Equal(t, device.Dim3{X: 1, Y: 1, Z: 1}, lower.Launch(l, &lower.Settings{}, values{}).Grid, "the grid of the graph where no other is set")
}

func TestWorkOfAHostCall(t *testing.T) {
	calls := 0
	op := ir.Op{Kind: ir.KindHost, Uses: []ir.Access{{Range: span(1, 4, 12), Mode: ir.Read}, {Range: span(2, 0, 8), Mode: ir.ReadWrite}}}
	s := lower.Settings{Label: "look", Host: func() error { calls++; return nil }}
	for _, s.Off = range []bool{false, true} {
		h := lower.Work(&op, &s, values{}).(*device.HostCall)
		assert.NoError(t, h.Func())
		assert.Equal(t, "look", h.Label)
		assert.Equal(t, []device.HostUse{{Ptr: 0x1004, Bytes: 8, Read: true}, {Ptr: 0x2000, Bytes: 8, Read: true, Write: true}}, h.Uses)
	}
	assert.Equal(t, 1, calls, "not when it is off")
}
