package interp

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
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
