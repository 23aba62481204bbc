package interp

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// A 32-bit shared address is a 32-bit sum: compilers fold a negative index into
// the register and the array's place into the offset. The register declaration
// without a space is how CUDA's own headers write inline assembly.
const wrapping = `
.version 7.8
.target sm_75
.address_size 64
.visible .entry wrap(.param .u64 out)
{
	.reg.b32 %r<4>;
	.reg .b64 %rd<3>;
	.shared .align 4 .b8 words[64];
	ld.param.u64 %rd1, [out];
	cvta.to.global.u64 %rd2, %rd1;
	mov.u32 %r1, 7;
	st.shared.u32 [words+12], %r1;
	mov.u32 %r2, -8;
	ld.shared.u32 %r3, [%r2+20];
	st.global.u32 [%rd2], %r3;
	st.shared.u32 [%r2+16], %r3;
	atom.shared.add.u32 %r3, [%r2+20], 1;
	ret;
}
`

func TestSharedAddressesWrap(t *testing.T) {
	d := open(t, "wrap.ptx", wrapping)
	out := buffer(d, "out", []uint32{0})
	d.run("wrap", Launch{Grid: dims(1, 1, 1), Block: dims(1, 1, 1), Params: params(out)})
	require.Equal(t, uint32(7), contents[uint32](d, out)[0])
}
