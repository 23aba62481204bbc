package ptx

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Every row consists of the letters that opRow explains.
func TestOpTableIsWellFormed(t *testing.T) {
	for name, rows := range opTable {
		for _, row := range rows {
			require.Empty(t, strings.Trim(row.args, "dDwecqpukmlgtaAvVx["), name)
			require.Empty(t, strings.Trim(row.types, "p8ibBfhs*"), name)
			require.LessOrEqual(t, strings.Count(row.args, "["), 1, name)
		}
	}
}

// Types of the ISA that nvcc uses with each opcode, by its suffixes.
func TestFormsOfCompiledCodeAreLegal(t *testing.T) {
	for _, word := range strings.Fields(`
		mov.pred mov.b128 add.f16x2 add.rn.f64 mul.wide.u16 mad.wide.u32 mad.lo.cc.u32 madc.hi.u32
		and.pred or.b16 shr.s16 selp.f64 selp.b16 setp.geu.f16 setp.lt.and.u64 set.eq.f16x2.f16x2
		ld.param.s8 ld.global.nc.v4.u8 ld.volatile.shared.u16 st.cg.v2.u64 atom.global.sys.add.u32
		atom.add.noftz.f16x2 atom.shared.cas.b64 red.global.add.f64 cvt.sat.f32.f32 cvt.rn.f16.s64
		cvt.s16.s8 cvta.to.local.u64 bfe.s64 bfind.shiftamt.u32 shf.l.wrap.b32 shfl.sync.up.b32
		vote.ballot.sync.b32 vote.sync.any.pred match.any.sync.b64 bar.red.popc.u32 ex2.approx.ftz.f16
		rcp.approx.ftz.f64 min.bf16x2 neg.f16 fma.rm.f32 lop3.b32 prmt.b32 brev.b64 copysign.f64`) {
		parts := strings.Split(word, ".")
		f := newForm(word, opcode{name: parts[0], suffix: parts[1:]}, &Module{Target: "sm_90", Version: "8.3"})
		require.NotNil(t, f.row, word)
		require.Empty(t, f.fault, word)
	}
}
