package interp

import (
	"testing"

	"github.com/stretchr/testify/require"
)

const referenceSource = `.version 7.8
.target sm_75
.address_size 64
.global .texref ref;
.global .u64 number;
.visible .entry named() {
.reg .f32 %f<4>; .reg .b32 %r<2>;
tex.1d.v4.f32.s32 {%f0,%f1,%f2,%f3}, [ref, {%r0}]; ret;
}
.visible .entry handed(.param .u64 handle) {
.reg .f32 %f<4>; .reg .b32 %r<2>; .reg .b64 %rd<2>;
ld.param.u64 %rd1, [handle]; tex.1d.v4.f32.s32 {%f0,%f1,%f2,%f3}, [%rd1, {%r0}]; ret;
}
.visible .entry asked(.param .u64 handle) {
.reg .b32 %r<2>; .reg .b64 %rd<2>;
ld.param.u64 %rd1, [handle]; txq.width.b32 %r1, [%rd1]; ret;
}
`

// An address names a texture only where a reference starts.
func TestAddressesOfReferencesAreHandles(t *testing.T) {
	d := open(t, "refs.ptx", referenceSource)
	ref, err := d.mod.Reference("ref", "texref")
	require.NoError(t, err)
	number, _, err := d.mod.Global("number")
	require.NoError(t, err)
	data := buffer(d, "data", make([]byte, 256))
	image := Image{Base: data, Width: 8, Format: TexelF32, Channels: 1}
	surface := d.mem.BindSurface(image)
	gone := d.mem.BindTexture(Texture{Image: image, Plain: true})
	require.True(t, d.mem.Unbind(gone))

	run := func(kernel string, list ...any) string {
		_, f := d.kernel(kernel).Run(d.mem, Launch{Grid: dims(1, 1, 1), Block: dims(1, 1, 1), Params: params(list...)})
		if f == nil {
			return ""
		}
		return f.Error()
	}
	unbound := "nothing is bound to the reference ref: bind a texture before the launch"
	require.Contains(t, run("named"), unbound)
	require.Contains(t, run("handed", ref), unbound)
	require.Contains(t, run("asked", ref), "nothing is bound to the reference ref")
	for _, kernel := range []string{"handed", "asked"} {
		for _, address := range []uint64{data, data + 8, number, ref + 1, 0, 12345} {
			require.Contains(t, run(kernel, address), "is the handle of no texture")
		}
		require.Contains(t, run(kernel, gone), "was destroyed")
	}
	require.Contains(t, run("handed", surface), "is of a surface, not of a texture")

	require.False(t, d.mem.Unbind(ref), "a reference is no handle")
	d.mem.BindTextureAt(ref, Texture{Image: image, Plain: true})
	require.False(t, d.mem.Unbind(ref), "a reference is no handle")
	require.Empty(t, run("named"))
	require.Empty(t, run("handed", ref))
	d.mod.Unload()
	require.Contains(t, d.mem.noImage(ref, "texture"), "is the handle of no texture")
}
