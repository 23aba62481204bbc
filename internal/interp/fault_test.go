package interp

import (
	"fmt"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/require"
)

// faultSource wraps a body into a kernel whose parameters are a buffer of 256
// bytes, an empty one and a number.
func faultSource(body string) string {
	return `.version 9.0
.target sm_90
.address_size 64
.visible .entry victim(.param .u64 data, .param .u64 empty, .param .u32 n)
{
.reg .b32 %r<16>; .reg .b64 %rd<16>; .reg .f32 %f<8>; .reg .pred %p<8>;
.shared .align 16 .b8 tile[64];
ld.param.u64 %rd1, [data]; ld.param.u64 %rd2, [empty]; ld.param.u32 %r1, [n]; mov.u32 %r2, %tid.x;
` + body + "\n}\n.file 1 \"victim.cu\"\n"
}

// TestFaults runs testdata/fault/*: "fault" launches the body and prints how
// it ends.
func TestFaults(t *testing.T) {
	datadriven.Walk(t, "testdata/fault", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, td *datadriven.TestData) string {
			l := Launch{Grid: dims(1, 1, 1), Block: dims(64, 1, 1), Label: "step3"}
			var steps, shared, extra int
			td.MaybeScanArgs(t, "grid", &l.Grid[0])
			td.MaybeScanArgs(t, "block", &l.Block[0])
			td.MaybeScanArgs(t, "steps", &steps)
			td.MaybeScanArgs(t, "shared", &shared)
			td.MaybeScanArgs(t, "extra", &extra)
			l.StepLimit, l.Shared = int64(steps), uint32(shared)
			if td.HasArg("y") {
				td.ScanArgs(t, "y", &l.Block[1])
			}
			d := open(t, "victim.ptx", faultSource(td.Input))
			data, empty := buffer(d, "data", make([]byte, 256)), buffer(d, "empty", []byte{})
			l.Params = append(params(data, empty, uint32(7)), make([]byte, extra)...)
			_, f := d.kernel("victim").Run(d.mem, l)
			if f == nil {
				return "ok\n"
			}
			return f.Error() + "\n"
		})
	})
}

func TestFirstFaultyBlockIsReported(t *testing.T) {
	d := open(t, "victim.ptx", faultSource(`mov.u32 %r3, %ctaid.x; setp.lt.u32 %p1, %r3, 37; @%p1 ret; ld.global.u32 %r4, [%rd2]; ret;`))
	data, empty := buffer(d, "data", make([]byte, 256)), buffer(d, "empty", []byte{})
	for i := range 20 {
		_, f := d.kernel("victim").Run(d.mem, Launch{Grid: dims(100, 1, 1), Block: dims(32, 1, 1), Workers: 1 + i%4, Params: params(data, empty, uint32(0))})
		require.NotNil(t, f)
		require.Equal(t, dims(37, 0, 0), f.Block)
	}
}

func TestFreedMemoryIsNamed(t *testing.T) {
	d := open(t, "victim.ptx", faultSource("st.global.u32 [%rd1+8], %r2; ret;"))
	data := buffer(d, "data", make([]byte, 256))
	require.NoError(t, d.mem.Free(data))
	_, f := d.kernel("victim").Run(d.mem, Launch{Grid: dims(1, 1, 1), Block: dims(1, 1, 1), Params: params(data, data, uint32(0))})
	require.NotNil(t, f)
	require.Equal(t, IllegalAddress, f.Kind)
	require.Contains(t, f.Error(), "8 bytes into data, which was freed")
}

func TestMemory(t *testing.T) {
	m := NewMemory(1000)
	a, err := m.Alloc(100, "a")
	require.NoError(t, err)
	b, err := m.Alloc(0, "b")
	require.NoError(t, err)
	require.Zero(t, a%256)
	require.Zero(t, b%256)
	require.NotEqual(t, a, b)
	_, err = m.Alloc(901, "c")
	require.ErrorIs(t, err, ErrOutOfMemory)
	require.EqualError(t, m.Free(a+4), fmt.Sprintf("interp: free of %#x: it points 4 bytes into a: free its start %#x", a+4, a))
	require.EqualError(t, m.Free(1), "interp: free of 0x1: no allocation starts there")
	require.NoError(t, m.Free(a))
	require.EqualError(t, m.Free(a), fmt.Sprintf("interp: free of %#x: a (100 bytes) was freed before", a))
	c, err := m.Alloc(900, "c")
	require.NoError(t, err)
	require.Greater(t, c, b)
	_, err = m.Bytes(c+890, 20)
	require.EqualError(t, err, fmt.Sprintf("interp: 20 bytes at %#x: not inside one allocation: 10 bytes before the end of c (900 bytes at %#x)", c+890, c))
	_, err = m.Bytes(b, 0)
	require.NoError(t, err)
	_, err = m.Bytes(b, 1)
	require.EqualError(t, err, fmt.Sprintf("interp: 1 byte at %#x: not inside one allocation: at the end of b (0 bytes at %#x)", b, b))
	require.Equal(t, int64(900), m.Used())
}
