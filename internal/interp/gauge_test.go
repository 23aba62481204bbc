package interp

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/internal/unit"
)

// A warp reads the same four sectors 16 times. Loads that are for L2, or that must
// see what others store, find nothing in L1 however often they come.
func TestLoadsPastL1(t *testing.T) {
	for op, missed := range map[string]int64{"ld.global": 4, "ld.global.ca": 4, "ld.global.cg": 64, "ld.global.cv": 64, "ld.volatile.global": 64} {
		d := open(t, "k.ptx", `.version 7.0
.target sm_70
.address_size 64
.visible .entry k(.param .u64 p)
{
	.reg .b64 %p;
	.reg .b32 %t, %v;
	ld.param.u64 %p, [p];
	mov.u32 %t, %tid.x;
	mad.wide.u32 %p, %t, 4, %p;
`+strings.Repeat("\t"+op+".u32 %v, [%p];\n", 16)+"\tret;\n}\n")
		s := d.run("k", Launch{Grid: dims(1, 1, 1), Block: dims(32, 1, 1), CacheBytes: 1 << 16,
			Params: params(buffer(d, "p", make([]uint32, 32)))})
		require.Equal(t, int64(64), s.SectorsRead, op)
		require.Equal(t, missed, s.SectorsMissed, op)
	}
}

// Of a grid whose first block has all the work, that block is among those measured.
func TestL1OfTheOneBlockThatWorks(t *testing.T) {
	d := open(t, "k.ptx", `.version 7.0
.target sm_70
.address_size 64
.visible .entry k(.param .u64 p)
{
	.reg .pred %idle;
	.reg .b64 %p;
	.reg .b32 %t, %v;
	mov.u32 %t, %ctaid.x;
	setp.ne.u32 %idle, %t, 0;
	@%idle ret;
	ld.param.u64 %p, [p];
	mov.u32 %t, %tid.x;
	mad.wide.u32 %p, %t, 4, %p;
`+strings.Repeat("\tld.global.u32 %v, [%p];\n", 16)+"\tret;\n}\n")
	s := d.run("k", Launch{Grid: dims(64, 1, 1), Block: dims(32, 1, 1), CacheBytes: 1 << 16,
		Params: params(buffer(d, "p", make([]uint32, 32)))})
	require.Equal(t, int64(64), s.SectorsRead)
	require.Equal(t, int64(4), s.SectorsMissed)
	require.Equal(t, int64(128), s.Extents[0].Read)
}

// What the only block with work does is not taken for that of a whole grid: 32 warps load
// from 32 lines each, 8 wavefronts, and add to one word, lane by lane.
func TestTheOneBlockThatWorksStandsForNoOther(t *testing.T) {
	d := open(t, "k.ptx", `.version 7.0
.target sm_70
.address_size 64
.visible .entry k(.param .u64 p, .param .u64 sum)
{
	.reg .pred %idle;
	.reg .b64 %p, %sum;
	.reg .b32 %t, %v;
	mov.u32 %t, %ctaid.x;
	setp.ne.u32 %idle, %t, 0;
	@%idle ret;
	ld.param.u64 %p, [p];
	ld.param.u64 %sum, [sum];
	mov.u32 %t, %tid.x;
	mad.wide.u32 %p, %t, 128, %p;
	ld.global.u32 %v, [%p];
	red.global.add.u32 [%sum], %v;
	ret;
}`)
	p, sum := buffer(d, "p", make([]uint32, 32*1024)), buffer(d, "sum", make([]uint32, 1))
	for _, grid := range []uint32{1, 8, 64, 1056} {
		for _, sample := range []int64{0, 4, 32} {
			s := d.run("k", Launch{Grid: dims(grid, 1, 1), Block: dims(1024, 1, 1), Sample: sample, Params: params(p, sum)})
			require.EqualValues(t, 32*(8+1), s.Work[unit.Memory], "%d blocks, sample %d", grid, sample)
			require.EqualValues(t, 1024, s.Atomics)
			require.EqualValues(t, 1024, s.Updates)
		}
	}
}
