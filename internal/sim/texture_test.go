package sim

import (
	"encoding/binary"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/texel"
)

// A Device is a texel.Device.
var _ texel.Device = (*Device)(nil)

func TestTexturesAreCountedAndFreed(t *testing.T) {
	d := open(t, Options{})
	before := d.Live()
	a, err := d.CreateArray(texel.Layout{Format: texel.U8, Channels: 1, Width: 3, Height: 2})
	require.NoError(t, err)
	require.NoError(t, d.WriteArray(a, []byte{1, 2, 3, 4, 5, 6}))
	tex, err := d.CreateTexture(texel.Desc{Array: a})
	require.NoError(t, err)
	surf, err := d.CreateSurface(a)
	require.NoError(t, err)
	require.Equal(t, 2, d.Live().Textures)
	got := make([]byte, 6)
	require.NoError(t, d.ReadArray(got, a)) // rows are padded on the device, and not here
	require.Equal(t, []byte{1, 2, 3, 4, 5, 6}, got)
	require.NoError(t, d.DestroyTexture(tex))
	require.ErrorContains(t, d.DestroyTexture(tex), "was destroyed before")
	require.NoError(t, d.DestroySurface(surf))
	require.NoError(t, d.DestroyArray(a))
	require.ErrorContains(t, d.DestroyArray(a), "has been destroyed")
	require.Equal(t, before, d.Live())
}

func TestTextureDescriptionsAreChecked(t *testing.T) {
	d := open(t, Options{})
	u8 := texel.Layout{Format: texel.U8, Channels: 1, Width: 4}
	for _, c := range []struct {
		texels texel.Layout
		want   string
	}{
		{texel.Layout{Channels: 3, Width: 1}, "1, 2 or 4 channels, not 3"},
		{texel.Layout{Channels: 1}, "make no image"},
		{texel.Layout{Channels: 1, Width: 4, Depth: 2}, "make no image"},
		{texel.Layout{Channels: 1, Width: 4, Height: 4, Depth: 2, Layers: 2}, "has no layers"},
		{texel.Layout{Channels: 1, Width: 4, Height: 4, Layers: 5, Cube: true}, "six square layers"},
		{texel.Layout{Channels: 1, Width: 1 << 20, Height: 1 << 20}, "at most"},
		{texel.Layout{Format: 99, Channels: 1, Width: 1}, "format 99 is unknown"},
	} {
		_, err := d.CreateArray(c.texels)
		require.ErrorContains(t, err, c.want)
	}
	a, err := d.CreateArray(u8)
	require.NoError(t, err)
	require.ErrorContains(t, d.WriteArray(a, make([]byte, 5)), "5 bytes for an array of 4")
	_, err = d.CreateTexture(texel.Desc{Array: a, Linear: true})
	require.ErrorContains(t, err, "linear filtering needs floats")
	_, err = d.CreateTexture(texel.Desc{Array: a, Address: [3]texel.AddressMode{9}})
	require.ErrorContains(t, err, "address mode is unknown")
	p, err := d.Alloc(16)
	require.NoError(t, err)
	_, err = d.CreateTexture(texel.Desc{Memory: p, Layout: texel.Layout{Channels: 1, Width: 17}})
	require.ErrorContains(t, err, "17 bytes at")
	_, err = d.CreateTexture(texel.Desc{Memory: p, Layout: texel.Layout{Channels: 1, Width: 4, Height: 2}, Pitch: 3})
	require.ErrorContains(t, err, "do not fit a pitch of 3")
	_, err = d.CreateTexture(texel.Desc{Memory: p, Layout: texel.Layout{Channels: 1, Width: 8, Height: 2}, Pitch: 8})
	require.NoError(t, err)
}

const sampleText = `.version 7.8
.target sm_75
.address_size 64
.visible .entry sample(.param .u64 t, .param .u64 out)
{
	.reg .f32 %f<6>;
	.reg .b32 %i;
	.reg .b64 %t, %out;
	ld.param.u64 %t, [t];
	ld.param.u64 %out, [out];
	mov.u32 %i, %tid.x;
	cvt.rn.f32.u32 %f5, %i;
	tex.1d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%t, {%f5}];
	mad.wide.u32 %out, %i, 4, %out;
	st.global.f32 [%out], %f1;
	ret;
}
`

// The memo must see that the texels of a texture changed, and a launch whose
// texture is gone must fail.
func TestTextureLaunches(t *testing.T) {
	d := open(t, Options{})
	a, err := d.CreateArray(texel.Layout{Format: texel.F32, Channels: 1, Width: 2})
	require.NoError(t, err)
	tex, err := d.CreateTexture(texel.Desc{Array: a, Address: [3]texel.AddressMode{texel.Clamp}})
	require.NoError(t, err)
	out, err := d.Alloc(8)
	require.NoError(t, err)
	m, err := d.LoadModule("sample", sampleText)
	require.NoError(t, err)
	f, err := d.Function(m, "sample")
	require.NoError(t, err)
	s, err := d.CreateStream(0)
	require.NoError(t, err)
	launch := func() error {
		params := binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(nil, uint64(tex)), uint64(out))
		require.NoError(t, d.Submit(s, &device.Launch{Function: f, Grid: device.Dim3{X: 1, Y: 1, Z: 1}, Block: device.Dim3{X: 2, Y: 1, Z: 1}, Params: params}))
		return d.Synchronize(s)
	}
	for n := range 6 {
		want := binary.LittleEndian.AppendUint64(nil, uint64(math.Float32bits(float32(n%2)))|uint64(math.Float32bits(7))<<32)
		require.NoError(t, d.WriteArray(a, want))
		require.NoError(t, launch())
		got := make([]byte, 8)
		require.NoError(t, d.Read(got, out))
		require.Equal(t, want, got, "launch %d", n)
	}
	require.NoError(t, d.DestroyTexture(tex))
	require.ErrorContains(t, launch(), "was destroyed")
}
