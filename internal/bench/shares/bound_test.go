package shares

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/sharing"
	"github.com/reprise-gpu/reprise/internal/sim"
)

// TestPiecesInFlightDelayAtMostByTheirTime checks what the bound of policy fill rests on: the pieces in flight when an
// important program arrives delay it by at most the time that they take alone. They share multiprocessors and bandwidth with
// it, so they end later than alone, but then it has advanced meanwhile. The first pair is one whose last block finds no slot
// beside the piece.
func TestPiecesInFlightDelayAtMostByTheirTime(t *testing.T) {
	d, err := sim.New(sim.Options{Profile: "v100", Sample: 1})
	require.NoError(t, err)
	x := &overlapped{t: t, dev: d}
	x.open()
	x.compare("stage of resnet50 beside bert-train", stageOf(t, "resnet50", 162), &Trace{Kernels: []Kernel{
		{Blocks: 293, Threads: 128, Registers: 120, Time: 89 * time.Microsecond, Bound: sharing.Compute},
	}})
	r := rand.New(rand.NewPCG(1, 2))
	for i := range 6 {
		low := randomTrace(r, 1+r.IntN(4), []float64{90, 45, 30, 20}[r.IntN(4)])
		x.compare(fmt.Sprintf("random pair %d", i), randomTrace(r, 1+r.IntN(5), 150), low)
	}
	t.Logf("the worst delay is %.2f of the time of the pieces", x.worst)
	x.close()
}

// stageOf returns the kernels of a published trace from one on.
func stageOf(t *testing.T, name string, from int) *Trace {
	trace, err := PublishedTrace(name)
	require.NoError(t, err)
	return &Trace{Name: name, Kernels: trace.Kernels[from:]}
}

// randomTrace returns a trace of random kernels of at most a time, in microseconds.
func randomTrace(r *rand.Rand, kernels int, us float64) *Trace {
	t := &Trace{}
	for range kernels {
		t.Kernels = append(t.Kernels, Kernel{
			Blocks: uint32(1 + r.IntN([]int{20, 100, 400, 2000}[r.IntN(4)])), Threads: []uint32{64, 128, 256, 512, 1024}[r.IntN(5)], Registers: 32,
			Time: time.Duration((3 + r.Float64()*us) * 1000), Bound: []sharing.Bound{sharing.Compute, sharing.Memory}[r.IntN(2)],
		})
	}
	return t
}

// overlapped runs a graph of great priority beside pieces in flight.
type overlapped struct {
	t         *testing.T
	dev       *sim.Device
	spinner   *spinner
	high, low device.Stream
	end, last device.Event
	worst     float64
}

func (x *overlapped) open() {
	var err error
	x.spinner, err = newSpinner(x.dev)
	require.NoError(x.t, err)
	x.high, err = x.dev.CreateStream(x.dev.Info().GreatestPriority)
	require.NoError(x.t, err)
	x.low, err = x.dev.CreateStream(0)
	require.NoError(x.t, err)
	x.end, err = x.dev.CreateEvent()
	require.NoError(x.t, err)
	x.last, err = x.dev.CreateEvent()
	require.NoError(x.t, err)
}

func (x *overlapped) close() {
	require.NoError(x.t, x.spinner.close())
	require.NoError(x.t, x.dev.Close())
}

func (x *overlapped) graph(trace *Trace) device.GraphExec {
	in, err := openTrace(x.dev, x.spinner, trace, false)
	require.NoError(x.t, err)
	g, err := graphOf(x.dev, in.stages[0].ops)
	require.NoError(x.t, err)
	return g
}

// compare launches the important program at many moments after two pieces.
func (x *overlapped) compare(name string, high, low *Trace) {
	h, l := x.graph(high), x.graph(low)
	x.run(h, 0, 0, 0)
	alone, _ := x.run(h, 0, 0, 0)
	_, pieces := x.run(0, l, 2, 0)
	for after := time.Duration(0); after < pieces; after += max(pieces/100, 2*time.Microsecond) {
		took, _ := x.run(h, l, 2, after)
		assert.LessOrEqual(x.t, took-alone, pieces, "%s, %v after the first piece", name, after)
		x.worst = max(x.worst, float64(took-alone)/float64(pieces))
	}
	require.NoError(x.t, x.dev.DestroyGraphExec(h))
	require.NoError(x.t, x.dev.DestroyGraphExec(l))
}

// run returns the time of a graph that is launched some time after pieces, and the time of these.
func (x *overlapped) run(high, low device.GraphExec, pieces int, after time.Duration) (took, all time.Duration) {
	require.NoError(x.t, x.dev.SynchronizeAll())
	began := x.dev.Now()
	for range pieces {
		require.NoError(x.t, x.dev.LaunchGraph(low, x.low))
	}
	require.NoError(x.t, x.dev.Record(x.last, x.low))
	require.NoError(x.t, x.dev.WaitFirst(x.dev.Now()+after))
	at := x.dev.Now()
	if high != 0 {
		require.NoError(x.t, x.dev.LaunchGraph(high, x.high))
	}
	require.NoError(x.t, x.dev.Record(x.end, x.high))
	require.NoError(x.t, x.dev.SynchronizeAll())
	end, _ := x.dev.Completed(x.end)
	last, _ := x.dev.Completed(x.last)
	return end - at, last - began
}
