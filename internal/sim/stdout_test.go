package sim

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"github.com/reprise-gpu/reprise/device"
	"github.com/stretchr/testify/require"
)

// hello prints thread, a double and a string, and how many arguments there were.
const hello = `.version 7.8
.target sm_75
.address_size 64
.extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);
.global .align 1 .b8 format[24] = {98, 37, 100, 32, 116, 37, 50, 100, 32, 37, 46, 50, 102, 32, 37, 115, 10, 0};
.global .align 1 .b8 word[3] = {111, 107, 0};
.visible .entry hello(.param .u64 out)
{
.local .align 8 .b8 args[24]; .reg .b64 %rd<8>; .reg .b32 %r<6>; .reg .f64 %fd<3>;
mov.u32 %r1, %ctaid.x; mov.u32 %r2, %tid.x; cvt.rn.f64.u32 %fd1, %r2; mul.f64 %fd1, %fd1, 0d3FE0000000000000;
st.local.u32 [args], %r1; st.local.u32 [args+4], %r2; st.local.f64 [args+8], %fd1;
mov.u64 %rd1, word; cvta.global.u64 %rd1, %rd1; st.local.u64 [args+16], %rd1;
mov.u64 %rd2, format; cvta.global.u64 %rd2, %rd2; mov.u64 %rd3, args; cvta.local.u64 %rd3, %rd3;
{ .param .b64 p0; st.param.b64 [p0], %rd2; .param .b64 p1; st.param.b64 [p1], %rd3; .param .b32 r0;
call.uni (r0), vprintf, (p0, p1); ld.param.b32 %r3, [r0]; }
ld.param.u64 %rd4, [out]; st.global.u32 [%rd4], %r3; ret;
}`

func TestPrintfIsWrittenWhenTheHostWaits(t *testing.T) {
	var out bytes.Buffer
	d, err := New(Options{Stdout: &out, Workers: 2, Race: RaceOn})
	require.NoError(t, err)
	m, err := d.LoadModule("hello.ptx", hello)
	require.NoError(t, err)
	f, err := d.Function(m, "hello")
	require.NoError(t, err)
	p, err := d.Alloc(4)
	require.NoError(t, err)
	s, err := d.CreateStream(0)
	require.NoError(t, err)
	w := &device.Launch{Function: f, Grid: device.Dim3{X: 2, Y: 1, Z: 1}, Block: device.Dim3{X: 2, Y: 1, Z: 1},
		Params: binary.LittleEndian.AppendUint64(nil, uint64(p))}
	for range 2 { // equal launches: the second must print, too
		require.NoError(t, d.Submit(s, w))
		require.Empty(t, out.String())
		require.NoError(t, d.Synchronize(s))
		require.Equal(t, "b0 t 0 0.00 ok\nb0 t 1 0.50 ok\nb1 t 0 0.00 ok\nb1 t 1 0.50 ok\n", out.String())
		out.Reset()
	}
	var n [4]byte
	require.NoError(t, d.Read(n[:], p))
	require.Equal(t, byte(4), n[0], "arguments")
	require.NoError(t, d.Submit(s, w))
	require.NoError(t, d.Close())
	require.Len(t, out.String(), 60, "Close waits, too")
}

func TestPrintfKeepsTheNewestOutput(t *testing.T) {
	var out bytes.Buffer
	f := fifo{out: &out, capacity: printLimit}
	for range 3 {
		_, _ = f.Write([]byte(strings.Repeat("a", printLimit/2)))
	}
	_, _ = f.Write([]byte("end"))
	f.flush()
	note, rest, _ := strings.Cut(out.String(), "\n")
	require.Equal(t, "[printf: the first 524291 bytes are lost, the device holds 1048576; wait for it more often]", note)
	require.Len(t, rest, printLimit)
	require.True(t, strings.HasSuffix(rest, "end"))
}

// Writes to a full buffer cost what they write: a million of them is no work.
func TestPrintfOfManyLines(t *testing.T) {
	var out bytes.Buffer
	f := fifo{out: &out, capacity: printLimit}
	const lines = 1_000_000
	for i := range lines {
		_, _ = fmt.Fprintf(&f, "%6d\n", i)
	}
	f.flush()
	note, rest, _ := strings.Cut(out.String(), "\n")
	require.Contains(t, note, fmt.Sprintf("the first %d bytes are lost", 7*lines-printLimit))
	require.Len(t, rest, printLimit)
	require.True(t, strings.HasSuffix(rest, "999998\n999999\n"))
}

// TestAMillionPrintfOfOneLaunch keeps the newest output of a launch that prints 14 MB.
func TestAMillionPrintfOfOneLaunch(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds under the race detector, where the other tests of printf run")
	}
	const blocks, threads, room = 1024, 1024, 1 << 16
	var out bytes.Buffer
	d, err := New(Options{Stdout: &out, Workers: 2})
	require.NoError(t, err)
	d.LimitPrinted(room)
	format := `{98, 37, 53, 100, 32, 116, 37, 53, 100, 10, 0}` // "b%5d t%5d\n"
	m, err := d.LoadModule("hello.ptx", strings.Replace(hello, "{98, 37, 100, 32, 116, 37, 50, 100, 32, 37, 46, 50, 102, 32, 37, 115, 10, 0}", format, 1))
	require.NoError(t, err)
	f, err := d.Function(m, "hello")
	require.NoError(t, err)
	p, err := d.Alloc(4)
	require.NoError(t, err)
	s, err := d.CreateStream(0)
	require.NoError(t, err)
	require.NoError(t, d.Submit(s, &device.Launch{Function: f, Grid: device.Dim3{X: blocks, Y: 1, Z: 1}, Block: device.Dim3{X: threads, Y: 1, Z: 1},
		Params: binary.LittleEndian.AppendUint64(nil, uint64(p))}))
	require.NoError(t, d.Synchronize(s))
	note, rest, _ := strings.Cut(out.String(), "\n")
	require.Equal(t, fmt.Sprintf("[printf: the first %d bytes are lost, the device holds %d; wait for it more often]", 14*blocks*threads-room, room), note)
	require.Len(t, rest, room)
	var want strings.Builder
	for i := blocks*threads - room/14 - 1; i < blocks*threads; i++ {
		fmt.Fprintf(&want, "b%5d t%5d\n", i/threads, i%threads)
	}
	require.Equal(t, want.String()[want.Len()-room:], rest)
	require.NoError(t, d.Close())
}
