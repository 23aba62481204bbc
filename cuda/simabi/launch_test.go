//go:build cuda && cgo

package simabi_test

import (
	"encoding/binary"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/cuda/simabi/internal/client"
)

const success, invalidValue = 0, 1

const saxpy = `.version 7.0
.target sm_52
.address_size 64
.visible .entry saxpy(.param .u64 y, .param .u64 x, .param .f32 a, .param .u32 n)
{
	.reg .pred %p; .reg .b32 %r<6>; .reg .b64 %d<5>; .reg .f32 %f<4>;
	ld.param.u64 %d1, [y]; ld.param.u64 %d2, [x]; ld.param.f32 %f1, [a]; ld.param.u32 %r1, [n];
	mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x; mad.lo.u32 %r2, %r2, %r3, %r4;
	setp.ge.u32 %p, %r2, %r1; @%p bra done;
	mul.wide.u32 %d3, %r2, 4; add.u64 %d1, %d1, %d3; add.u64 %d2, %d2, %d3;
	ld.global.f32 %f2, [%d1]; ld.global.f32 %f3, [%d2]; fma.rn.f32 %f2, %f3, %f1, %f2; st.global.f32 [%d1], %f2;
done: ret;
}`

// session is the context that open has created last.
var session client.Context

// open creates a context, current in the test's thread, and loads a module from a text.
func open(t testing.TB, text string) client.Module {
	t.Setenv("REPRISE_SIM", "h200")
	runtime.LockOSThread()
	t.Cleanup(runtime.UnlockOSThread)
	c, answer := client.Open()
	require.Equal(t, success, answer)
	session = c
	t.Cleanup(func() { client.Close(c) })
	m, answer := client.Load([]byte(text), nil, nil)
	require.Equal(t, success, answer)
	return m
}

// onThread runs a body with the session current on its thread. A fuzz function runs on a thread of
// its own.
func onThread(t testing.TB, body func()) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	require.Equal(t, success, client.Use(session))
	body()
}

func kernel(t testing.TB, m client.Module, name string) client.Function {
	f, answer := client.Kernel(m, name)
	require.Equal(t, success, answer)
	return f
}

func saxpyArguments(t testing.TB) client.Arguments {
	y, answer := client.Alloc(4096)
	require.Equal(t, success, answer)
	x, answer := client.Alloc(4096)
	require.Equal(t, success, answer)
	le := binary.LittleEndian
	return client.Pointers(le.AppendUint64(nil, y), le.AppendUint64(nil, x), le.AppendUint32(nil, 0x3f800000), le.AppendUint32(nil, 100))
}

var oneBlock = [7]uint32{1, 1, 1, 128, 1, 1, 0}

// TestLaunchesFromCAllocateNothing counts the allocations of the whole process during launches, after the device has
// run as many.
func TestLaunchesFromCAllocateNothing(t *testing.T) {
	const launches = 1000
	f, a := kernel(t, open(t, saxpy), "saxpy"), saxpyArguments(t)
	round := func() {
		require.Equal(t, success, client.Launch(launches, f, oneBlock, a))
	}
	var before, after runtime.MemStats
	for range 3 {
		round()
		require.Equal(t, success, client.Synchronize())
	}
	runtime.GC()
	runtime.ReadMemStats(&before)
	round()
	runtime.ReadMemStats(&after)
	require.Less(t, after.Mallocs-before.Mallocs, uint64(launches/20), "of %d launches", launches)
	require.Equal(t, success, client.Synchronize())
}

func BenchmarkLaunchFromC(b *testing.B) {
	f, a := kernel(b, open(b, saxpy), "saxpy"), saxpyArguments(b)
	const batch = 1000
	for b.Loop() {
		require.Equal(b, success, client.Launch(batch, f, oneBlock, a))
		b.StopTimer() // what follows runs the kernels
		require.Equal(b, success, client.Synchronize())
		b.StartTimer()
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*batch), "ns/launch")
}
