package optimizer

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/reprise-gpu/reprise/internal/des"
	"github.com/reprise-gpu/reprise/ir"
)

func TestDeclaredCosts(t *testing.T) {
	device, peer := ir.Place{}, ir.Place{Device: 1}
	host, managed := ir.Place{Kind: ir.PinnedHost}, ir.Place{Kind: ir.Managed}
	g := &ir.Graph{}
	buffer := func(p ir.Place) ir.Range {
		g.Buffers = append(g.Buffers, ir.Buffer{Elem: ir.F32, Len: 256, Place: p, Role: ir.InOut})
		return ir.Range{Buffer: ir.BufferID(len(g.Buffers) - 1), Hi: 1024}
	}
	d, e, q, h, k, m := buffer(device), buffer(device), buffer(peer), buffer(host), buffer(host), buffer(managed)
	copied := func(src, dst ir.Range) ir.Op {
		return ir.Op{Kind: ir.KindCopy, Cost: -1, Copy: &ir.Copy{Src: src, Dst: dst}}
	}
	launch := ir.Op{Kind: ir.KindLaunch, Cost: -1,
		Launch: &ir.Launch{Grid: ir.Dim3{X: 4, Y: 2, Z: 1}, Block: ir.Dim3{X: 256, Y: 1, Z: 1}},
		Uses:   []ir.Access{{Range: d, Mode: ir.Read}, {Range: e, Mode: ir.ReadWrite}}}
	faulting := launch
	faulting.Uses = []ir.Access{{Range: m, Mode: ir.Read}, {Range: d, Mode: ir.Write}}
	declared := launch
	declared.Cost = 70

	p, err := des.Lookup("h200")
	assert.NoError(t, err)
	for _, c := range []struct {
		name string
		op   ir.Op
		want des.Demand
	}{
		{"host to device", copied(h, d), des.Demand{Kind: des.CopyIn, Bytes: 1024}},
		{"device to host", copied(d, h), des.Demand{Kind: des.CopyOut, Bytes: 1024}},
		{"on one device", copied(d, e), des.Demand{Kind: des.CopyOn, Bytes: 2048}},
		{"to a peer", copied(d, q), des.Demand{Kind: des.CopyOut, Bytes: 1024}},
		{"on the host", copied(h, k), des.Demand{Kind: des.CopyOut, Bytes: 1024}},
		{"no bytes", copied(ir.Range{Buffer: h.Buffer}, ir.Range{Buffer: d.Buffer}), des.Demand{Kind: des.Marker}},
		{"fill", ir.Op{Kind: ir.KindMemset, Cost: -1, Memset: &ir.Memset{Dst: d}}, des.Demand{Kind: des.CopyOn, Bytes: 1024}},
		{"prefetch", ir.Op{Kind: ir.KindPrefetch, Cost: -1, Prefetch: &ir.Prefetch{Range: m, ToDevice: true}}, des.Demand{Kind: des.CopyIn, Bytes: 1024}},
		{"prefetch of what is home", ir.Op{Kind: ir.KindPrefetch, Cost: -1, Prefetch: &ir.Prefetch{Range: m}}, des.Demand{Kind: des.Marker}},
		{"host call", ir.Op{Kind: ir.KindHost, Cost: -1}, des.Demand{Kind: des.Host}},
		{"empty", ir.Op{Kind: ir.KindEmpty, Cost: -1}, des.Demand{Kind: des.Marker}},
		{"launch: one read and one update, 2048 threads per SM in blocks of 256", launch,
			des.Demand{Kind: des.Kernel, Bytes: 3 * 1024, Blocks: 8, PerSM: 8, BlockCycles: guessedBlockCycles}},
		{"launch that faults", faulting,
			des.Demand{Kind: des.Kernel, Bytes: 2 * 1024, Faulted: 1024, Blocks: 8, PerSM: 8, BlockCycles: guessedBlockCycles}},
		{"declared", declared, des.Demand{Kind: des.Fixed, Duration: 70 * des.Nanosecond}},
	} {
		g.Ops = []ir.Op{c.op}
		assert.Equal(t, c.want, DeclaredCosts(p).Demand(g, 0), c.name)
	}
}
