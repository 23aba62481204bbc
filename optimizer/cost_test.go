package optimizer

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/reprise-gpu/reprise/device/model"
	"github.com/reprise-gpu/reprise/internal/profiles"
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

	p, err := profiles.Lookup("h200")
	assert.NoError(t, err)
	for _, c := range []struct {
		name string
		op   ir.Op
		want model.Demand
	}{
		{"host to device", copied(h, d), model.Demand{Kind: model.CopyIn, Bytes: 1024}},
		{"device to host", copied(d, h), model.Demand{Kind: model.CopyOut, Bytes: 1024}},
		{"on one device", copied(d, e), model.Demand{Kind: model.CopyOn, Bytes: 2048}},
		{"to a peer", copied(d, q), model.Demand{Kind: model.CopyOut, Bytes: 1024}},
		{"on the host", copied(h, k), model.Demand{Kind: model.CopyOut, Bytes: 1024}},
		{"no bytes", copied(ir.Range{Buffer: h.Buffer}, ir.Range{Buffer: d.Buffer}), model.Demand{Kind: model.Marker}},
		{"fill", ir.Op{Kind: ir.KindMemset, Cost: -1, Memset: &ir.Memset{Dst: d}}, model.Demand{Kind: model.CopyOn, Bytes: 1024}},
		{"prefetch", ir.Op{Kind: ir.KindPrefetch, Cost: -1, Prefetch: &ir.Prefetch{Range: m, ToDevice: true}}, model.Demand{Kind: model.CopyIn, Bytes: 1024}},
		{"prefetch of what is home", ir.Op{Kind: ir.KindPrefetch, Cost: -1, Prefetch: &ir.Prefetch{Range: m}}, model.Demand{Kind: model.Marker}},
		{"host call", ir.Op{Kind: ir.KindHost, Cost: -1}, model.Demand{Kind: model.Host}},
		{"empty", ir.Op{Kind: ir.KindEmpty, Cost: -1}, model.Demand{Kind: model.Marker}},
		{"launch: one read and one update, 2048 threads per SM in blocks of 256", launch,
			model.Demand{Kind: model.Kernel, Memory: true, Bytes: 3 * 1024, Blocks: 8, PerSM: 8, BlockCycles: guessedBlockCycles}},
		{"launch that faults", faulting,
			model.Demand{Kind: model.Kernel, Memory: true, Bytes: 2 * 1024, Faulted: 1024, Blocks: 8, PerSM: 8, BlockCycles: guessedBlockCycles}},
		{"declared", declared, model.Demand{Kind: model.Fixed, Duration: 70 * model.Nanosecond}},
	} {
		g.Ops = []ir.Op{c.op}
		assert.Equal(t, c.want, newDeclaredCosts(p).Demand(g, 0), c.name)
	}
}
