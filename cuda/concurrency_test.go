//go:build cuda && cgo

package cuda

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/device"
)

// square is dst[i] = src[i]*src[i] over a block of 32 threads.
const square = `.version 7.0
.target sm_52
.address_size 64
.visible .entry square(.param .u64 dst, .param .u64 src)
{
	.reg .b64 %d<4>; .reg .b32 %r<4>;
	ld.param.u64 %d0, [dst]; ld.param.u64 %d1, [src];
	mov.u32 %r0, %tid.x; mul.wide.u32 %d2, %r0, 4;
	add.u64 %d0, %d0, %d2; add.u64 %d1, %d1, %d2;
	ld.global.u32 %r1, [%d1]; mul.lo.u32 %r1, %r1, %r1; st.global.u32 [%d0], %r1;
	ret;
}
`

const lanes = 32

// squares returns the launch of square on two buffers.
func squares(f device.Function, dst, src device.Ptr) *device.Launch {
	params := binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(nil, uint64(dst)), uint64(src))
	return &device.Launch{Function: f, Grid: device.Dim3{X: 1, Y: 1, Z: 1}, Block: device.Dim3{X: lanes, Y: 1, Z: 1}, Params: params, Label: "squares"}
}

func loadSquare(t testing.TB, d *gpuDevice) device.Function {
	t.Helper()
	m, err := d.LoadModule("square.ptx", square)
	require.NoError(t, err)
	f, err := d.Function(m, "square")
	require.NoError(t, err)
	return f
}

// TestManyGoroutines uses one device from eight goroutines, each with its own streams,
// buffers and graphs, and checks the results.
func TestManyGoroutines(t *testing.T) {
	d := open(t)
	f := loadSquare(t, d)
	var group sync.WaitGroup
	failures := make([]error, 8)
	for g := range failures {
		group.Go(func() {
			for round := range 10 {
				if failures[g] = useDevice(d, f, uint32(g*100+round)); failures[g] != nil {
					return
				}
			}
		})
	}
	group.Wait()
	require.NoError(t, errors.Join(failures...))
	live := d.Live()
	assert.Equal(t, device.Live{Modules: 1}, live)
	require.NoError(t, d.Close())
}

// useDevice squares numbers by all calls that can enqueue work, frees all that it created, and returns the first
// error.
func useDevice(d *gpuDevice, f device.Function, seed uint32) (err error) {
	ok := func(e error) {
		if err == nil {
			err = e
		}
	}
	src, e := d.Alloc(4 * lanes)
	ok(e)
	dst, e := d.Alloc(4 * lanes)
	ok(e)
	s, e := d.CreateStream(0)
	ok(e)
	g, e := d.CreateGraph()
	ok(e)
	var in, want []byte
	for i := range uint32(lanes) {
		in = binary.LittleEndian.AppendUint32(in, seed+i)
		want = binary.LittleEndian.AppendUint32(want, (seed+i)*(seed+i))
	}
	ok(d.Write(src, in))
	_, e = d.AddNode(g, nil, squares(f, dst, src))
	ok(e)
	x, e := d.Instantiate(g)
	ok(e)
	l, e := d.CompileCommands([]device.Command{{Stream: s, Work: squares(f, dst, src)}})
	ok(e)
	if err != nil {
		return err
	}
	for name, run := range map[string]func() error{
		"Submit":         func() error { return d.Submit(s, squares(f, dst, src)) },
		"SubmitCommands": func() error { return d.SubmitCommands(l, 0, 1) },
		"LaunchGraph":    func() error { return d.LaunchGraph(x, s) },
	} {
		ok(d.Write(dst, make([]byte, 4*lanes)))
		ok(run())
		ok(d.Synchronize(s))
		got := make([]byte, 4*lanes)
		ok(d.Read(got, dst))
		if !bytes.Equal(got, want) {
			ok(fmt.Errorf("%s left % x, want % x", name, got, want))
		}
	}
	ok(d.DestroyCommandList(l))
	ok(d.DestroyGraphExec(x))
	ok(d.DestroyGraph(g))
	ok(d.DestroyStream(s))
	ok(d.Free(src))
	ok(d.Free(dst))
	return err
}

// TestAWaitDoesNotBlockOtherStreams enqueues work and waits on a stream while another goroutine waits for a host call
// of another stream.
func TestAWaitDoesNotBlockOtherStreams(t *testing.T) {
	d := open(t)
	var streams [2]device.Stream
	for i := range streams {
		var err error
		streams[i], err = d.CreateStream(0)
		require.NoError(t, err)
	}
	p, err := d.Alloc(4 * lanes)
	require.NoError(t, err)
	began, end := make(chan bool), make(chan bool)
	require.NoError(t, d.Submit(streams[0], &device.HostCall{Label: "long", Func: func() error { close(began); <-end; return nil }}))
	waited := make(chan error)
	go func() { waited <- d.Synchronize(streams[0]) }()
	<-began
	enqueued := make(chan error)
	go func() { enqueued <- d.Submit(streams[1], &device.Memset{Dst: p, Width: 4, Count: lanes}) }()
	select {
	case err := <-enqueued:
		assert.NoError(t, err)
		close(end)
	case <-time.After(10 * time.Second):
		close(end)
		assert.Fail(t, "enqueuing waits for a stream that another goroutine waits for")
		<-enqueued
	}
	require.NoError(t, <-waited)
	for _, s := range streams {
		require.NoError(t, d.Synchronize(s))
		require.NoError(t, d.DestroyStream(s))
	}
	require.NoError(t, d.Free(p))
	require.NoError(t, d.Close())
}
