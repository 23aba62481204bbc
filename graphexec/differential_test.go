package graphexec_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/graphexec"
	"github.com/reprise-gpu/reprise/internal/kernels"
	"github.com/reprise-gpu/reprise/internal/sim"
	"github.com/reprise-gpu/reprise/internal/traced"
	"github.com/reprise-gpu/reprise/ir"
	"github.com/reprise-gpu/reprise/optimizer"
	"github.com/reprise-gpu/reprise/tracer"
)

// program is a random program over a few buffers: kernels on whole buffers and
// on slices of any of them, in place too, fills, copies and host calls.
type program struct {
	seed    uint64
	ops     int
	buffers int
	scratch bool // temporaries come up, the last few of which are used like the buffers
	managed bool // every third buffer is managed memory, prefetched in part before all else and after it,
	moving  bool // and in between, which a graph cannot
}

const bufferLen = 64

// run is one tracing of a program.
type run struct {
	program
	t                          testing.TB
	tr                         *tracer.Tracer
	r                          *rand.Rand
	device                     []tracer.Buffer
	temps                      []tracer.Buffer
	host                       tracer.Buffer
	square, combine, unsharpen *tracer.Kernel
	amount                     tracer.Param
}

// start allocates and fills the buffers.
func (p program) start(t testing.TB, dev device.Device, mode tracer.Mode) *run {
	x := &run{program: p, t: t, tr: tracer.New(dev, "random", mode)}
	x.square, x.combine, x.unsharpen = x.kernel("square"), x.kernel("combine"), x.kernel("unsharpen")
	x.amount = x.tr.Param("amount", ir.F32, 0.25)
	for i := range p.buffers {
		alloc := x.tr.Alloc
		if p.managed && i%3 == 1 {
			alloc = x.tr.AllocManaged
		}
		x.device = append(x.device, alloc(fmt.Sprintf("b%d", i), ir.F32, bufferLen, ir.InOut))
	}
	x.host = x.tr.AllocHost("host", ir.F32, bufferLen, ir.InOut)
	require.NoError(t, x.tr.Err())
	x.fill()
	return x
}

func (x *run) kernel(name string) *tracer.Kernel {
	k, ok := kernels.Lookup(name)
	require.True(x.t, ok)
	return x.tr.Module(k.File, k.PTX).Kernel(name)
}

// calls makes the program's calls; every time the same ones.
func (x *run) calls() {
	x.r, x.temps = rand.New(rand.NewPCG(x.seed, 1)), nil
	x.prefetch()
	for range x.ops {
		if x.scratch && x.r.IntN(2) == 0 {
			x.temporary()
		}
		x.call()
		if x.moving && x.r.IntN(3) == 0 {
			x.prefetch()
		}
	}
	x.prefetch()
}

// prefetch moves parts of managed memory.
func (x *run) prefetch() {
	for i := 1; x.managed && i < len(x.device); i += 3 {
		n := int64(1 + x.r.IntN(bufferLen))
		at := x.r.Int64N(bufferLen - n + 1)
		x.tr.Prefetch(x.device[i].Slice(at, at+n), x.r.IntN(2) == 0)
	}
}

func (x *run) call() {
	n := []int64{1, 4, bufferLen / 2, bufferLen}[x.r.IntN(4)]
	shape := tracer.Linear(uint32(1+x.r.IntN(3)), 32)
	switch x.r.IntN(7) {
	case 0, 1:
		x.tr.Launch(x.square, shape, x.piece(n), x.piece(n), n)
	case 2:
		x.tr.Launch(x.combine, shape, x.piece(n), x.piece(n), x.piece(n), x.piece(n), n)
	case 3:
		x.tr.Launch(x.unsharpen, shape, x.piece(n), x.piece(n), x.piece(n), x.amount, n)
	case 4:
		x.tr.Memset(x.piece(n), x.r.Float32())
	case 5:
		if dst, src := x.piece(n), x.piece(n); dst != src {
			x.tr.Copy(dst, src)
			if x.r.IntN(2) == 0 {
				x.tr.Copy(src, dst)
			}
		}
	case 6:
		x.tr.Copy(x.host.Slice(0, n), x.piece(n))
		x.tr.HostCall("negate", func() error { negate(x.host.HostBytes()); return nil }, tracer.Use{Buffer: x.host, Mode: ir.ReadWrite})
		x.tr.Copy(x.piece(n), x.host.Slice(0, n))
	}
}

// temporary makes a buffer that is dead after the replay, and writes all of it that is
// used.
func (x *run) temporary() {
	whole := x.tr.Alloc("temp", ir.F32, bufferLen*(1+x.r.Int64N(4)), ir.Temporary)
	b := whole.Slice(0, bufferLen)
	switch x.r.IntN(3) {
	case 0:
		x.tr.Memset(b, x.r.Float32())
	case 1:
		x.tr.Copy(b, x.piece(bufferLen))
	case 2:
		x.tr.Launch(x.square, tracer.Linear(1, 32), x.piece(bufferLen), b, bufferLen)
	}
	x.temps = append(x.temps, b)
	x.temps = x.temps[max(0, len(x.temps)-3):]
}

// piece is n elements of some buffer, at a multiple of n: two pieces of one
// length are the same or disjoint, so that every kernel has one right result.
func (x *run) piece(n int64) tracer.Buffer {
	b := x.device[x.r.IntN(len(x.device))]
	if len(x.temps) > 0 && x.r.IntN(2) == 0 {
		b = x.temps[x.r.IntN(len(x.temps))]
	}
	at := x.r.Int64N(bufferLen/n) * n
	return b.Slice(at, at+n)
}

// negate flips the sign of every float.
func negate(data []byte) {
	for i := 3; i < len(data); i += 4 {
		data[i] ^= 0x80
	}
}

// fill gives every buffer its first contents.
func (x *run) fill() {
	r := rand.New(rand.NewPCG(x.seed, 2))
	for _, b := range append(x.device, x.host) {
		data := make([]float32, b.Len())
		for i := range data {
			data[i] = r.Float32()
		}
		require.NoError(x.t, tracer.Write(b, data))
	}
}

func (x *run) contents() [][]uint32 {
	var got [][]uint32
	for _, b := range append(x.device, x.host) {
		data := make([]uint32, b.Len())
		require.NoError(x.t, tracer.Read(data, b))
		got = append(got, data)
	}
	return got
}

// plain makes the calls one by one, as often as times says, and returns what
// they leave.
func (p program) plain(t testing.TB, dev device.Device, times int) [][]uint32 {
	x := p.start(t, dev, tracer.Eager)
	for range times {
		x.calls()
	}
	trace, err := x.tr.Finish()
	require.NoError(t, err)
	got := x.contents()
	require.NoError(t, trace.Close())
	return got
}

// TestAnyScheduleLeavesTheBytesOfTheProgram replays random programs under every
// strategy and back end; all must leave the bytes that the plain calls leave. Half of the
// programs have temporaries, which share memory, and half of those lose the operations that
// nothing comes of.
func TestAnyScheduleLeavesTheBytesOfTheProgram(t *testing.T) {
	const replays = 3 // back to back: none may overtake the one before it
	rounds := uint64(12)
	if testing.Short() {
		rounds = 5
	}
	for seed := range rounds {
		p := program{seed: seed, ops: 4 + 2*int(seed), buffers: 2 + int(seed%4), scratch: seed%2 == 0, managed: seed%3 > 0, moving: seed%3 > 1}
		var also []string
		if p.scratch {
			also = []string{"copyelim", "dce", "memplan"}[seed%4:] // all, or memplan alone
		}
		dev, err := sim.New(sim.Options{Memo: sim.MemoOff, Race: sim.RaceOn})
		require.NoError(t, err)
		want := p.plain(t, dev, replays)

		x := p.start(t, dev, tracer.Deferred)
		x.calls()
		trace, err := x.tr.Finish()
		require.NoError(t, err)
		for _, s := range optimizer.Strategies() {
			if s.Name == "search" {
				s.Name = "search(100)" // 6000 steps take longer than all else here
			}
			plan, err := optimizer.Plan(trace.Graph, optimizer.Options{Strategy: s.Name, Also: also, Verify: true})
			require.NoError(t, err)
			for _, form := range graphexec.Backends() {
				exec, err := graphexec.Instantiate(dev, plan.Schedule, trace, form)
				if p.moving && form == graphexec.Graph && err != nil {
					require.ErrorContains(t, err, "the prefetch lies between operations of the graph")
					continue
				}
				require.NoError(t, err)
				x.fill()
				require.NoError(t, replayed(exec, replays, seed))
				require.Equal(t, want, x.contents(), "seed %d, %s/%v", seed, s.Name, form)
				require.NoError(t, exec.Close())
			}
		}
		require.NoError(t, trace.Close())
		require.NoError(t, dev.Close())
	}
}

// TestAnUnrolledProgramLeavesTheBytesOfReplays unrolls random programs, with one memory
// and with two for what every copy fills anew, under both back ends.
func TestAnUnrolledProgramLeavesTheBytesOfReplays(t *testing.T) {
	const replays = 2
	made := 0
	for seed := range uint64(16) {
		p := program{seed: seed, ops: 3 + int(seed), buffers: 2 + int(seed%4), scratch: seed%2 == 0, managed: seed%4 == 3}
		k := 1 + int(seed%4)
		also := []string{fmt.Sprintf("unroll(%d)", k), "rename(2)", "copyelim", "merge", "dce", "memplan"}[:1+seed/2%6]
		dev, err := sim.New(sim.Options{Memo: sim.MemoOff, Race: sim.RaceOn})
		require.NoError(t, err)
		want := p.plain(t, dev, k*replays)

		x := p.start(t, dev, tracer.Deferred)
		x.calls()
		trace, err := x.tr.Finish()
		require.NoError(t, err)
		for _, form := range graphexec.Backends() {
			plan, err := optimizer.Plan(trace.Graph, optimizer.Options{Also: also, Verify: true, Streams: form == graphexec.Streams})
			require.NoError(t, err)
			made += plan.Graph.Made
			exec, err := graphexec.Instantiate(dev, plan.Schedule, trace, form)
			if p.managed && form == graphexec.Graph && err != nil {
				require.ErrorContains(t, err, "the prefetch lies between operations of the graph")
				continue
			}
			require.NoError(t, err)
			x.fill()
			for range replays {
				require.NoError(t, exec.Replay(context.Background()))
			}
			require.NoError(t, exec.Wait(context.Background()))
			require.Equal(t, want, x.contents(), "seed %d, %v, %v", seed, also, form)
			require.NoError(t, exec.Close())
		}
		require.NoError(t, trace.Close())
		require.NoError(t, dev.Close())
	}
	require.Positive(t, made)
}

// replayed makes the given number of replays, one by one or in one call, sometimes with a wait before the last one.
func replayed(x *graphexec.Exec, times int, seed uint64) error {
	ctx := context.Background()
	var errs []error
	switch seed % 3 {
	case 0:
		errs = append(errs, x.ReplayN(ctx, times))
	case 1:
		errs = append(errs, x.ReplayN(ctx, times-1), x.Wait(ctx), x.Replay(ctx))
	default:
		for range times {
			errs = append(errs, x.Replay(ctx))
		}
	}
	return errors.Join(append(errs, x.Wait(ctx))...)
}

// TestGroupsLeaveTheBytesOfTheProgram replays random programs over streams whose lanes are launched in
// groups, with a new value for a parameter in between, beside the graph of the same program.
func TestGroupsLeaveTheBytesOfTheProgram(t *testing.T) {
	ctx := context.Background()
	grouped := 0
	for seed := range uint64(16) {
		p := program{seed: seed, ops: 6 + int(seed), buffers: 2 + int(seed%4), scratch: seed%2 == 0}
		dev, err := sim.New(sim.Options{Memo: sim.MemoOff, Race: sim.RaceOn})
		require.NoError(t, err)
		x := p.start(t, dev, tracer.Deferred)
		x.calls()
		trace, err := x.tr.Finish()
		require.NoError(t, err)
		var want [][]uint32
		for _, strategy := range []string{"serial", "nimble", "listsched(2)"} {
			for _, form := range graphexec.Backends() {
				plan, err := optimizer.Plan(trace.Graph, optimizer.Options{Strategy: strategy, Streams: form == graphexec.Streams, Also: []string{"group"}, Verify: true})
				require.NoError(t, err)
				if plan.Schedule.Joined != nil {
					grouped++
				}
				exec, err := graphexec.Instantiate(dev, plan.Schedule, trace, form)
				require.NoError(t, err)
				x.fill()
				require.NoError(t, exec.Set("amount", 0.25))
				require.NoError(t, exec.Replay(ctx))
				require.NoError(t, exec.Set("amount", 0.5))
				require.NoError(t, exec.Replay(ctx))
				require.NoError(t, exec.Replay(ctx))
				require.NoError(t, exec.Wait(ctx))
				if want == nil {
					want = x.contents()
				}
				require.Equal(t, want, x.contents(), "seed %d, %s/%v", seed, strategy, form)
				require.NoError(t, exec.Close())
			}
		}
		require.NoError(t, trace.Close())
		require.NoError(t, dev.Close())
	}
	require.Greater(t, grouped, 20)
}

// instantiate plans a trace with the default strategy.
func instantiate(t *testing.T, dev device.Device, trace *tracer.Trace, form graphexec.Backend) *graphexec.Exec {
	plan, err := optimizer.Plan(trace.Graph, optimizer.Options{})
	require.NoError(t, err)
	exec, err := graphexec.Instantiate(dev, plan.Schedule, trace, form)
	require.NoError(t, err)
	return exec
}

// TestSetTakesEffectFromTheNextReplayOn runs three replays, with a new value
// before the second and without waiting in between.
func TestSetTakesEffectFromTheNextReplayOn(t *testing.T) {
	forEachBackend(t, func(t *testing.T, form graphexec.Backend) {
		dev, err := sim.New(sim.Options{Race: sim.RaceOn})
		require.NoError(t, err)
		tr := tracer.New(dev, "set", tracer.Deferred)
		x := &run{t: t, tr: tr}
		in := tr.Alloc("in", ir.F32, 1, ir.Input)
		zero := tr.Alloc("zero", ir.F32, 1, ir.Input)
		out := tr.Alloc("out", ir.F32, 1, ir.Temporary)
		log := tr.AllocHost("log", ir.F32, 4, ir.Output)
		var seen []float32
		tr.Launch(x.kernel("unsharpen"), tracer.Linear(1, 32), in, zero, out, tr.Param("amount", ir.F32, 0), 1)
		tr.Copy(log.Slice(0, 1), out)
		tr.HostCall("look", func() error {
			var v [4]float32
			err := tracer.Read(v[:], log)
			seen = append(seen, v[0])
			return err
		}, tracer.Use{Buffer: log, Mode: ir.Read})
		trace, err := tr.Finish()
		require.NoError(t, err)
		require.NoError(t, tracer.Write(in, []float32{0.25}))
		require.NoError(t, tracer.Write(zero, []float32{0}))

		exec := instantiate(t, dev, trace, form)
		ctx := context.Background()
		require.NoError(t, exec.Replay(ctx))
		require.NoError(t, exec.Set("amount", 1))
		require.NoError(t, exec.Replay(ctx))
		require.NoError(t, exec.Replay(ctx))
		require.NoError(t, exec.Wait(ctx))
		require.Equal(t, []float32{0.25, 0.5, 0.5}, seen) // in * (1 + amount)
		require.NoError(t, exec.Close())
		require.NoError(t, trace.Close())
		require.NoError(t, dev.Close())
	})
}

// TestAFaultNamesTheOperationAndItsLine replays a kernel that leaves its buffer.
func TestAFaultNamesTheOperationAndItsLine(t *testing.T) {
	forEachBackend(t, func(t *testing.T, form graphexec.Backend) {
		dev, err := sim.New(sim.Options{Race: sim.RaceOn})
		require.NoError(t, err)
		defer dev.Close()
		tr := tracer.New(dev, "fault", tracer.Deferred)
		x := &run{t: t, tr: tr}
		in := tr.Alloc("in", ir.F32, 8, ir.Input)
		out := tr.Alloc("out", ir.F32, 8, ir.Output)
		tr.Launch(x.kernel("square"), tracer.Linear(1, 32), in, out, 9)
		trace, err := tr.Finish()
		require.NoError(t, err)
		exec := instantiate(t, dev, trace, form)
		require.NoError(t, exec.Replay(context.Background()))
		err = exec.Wait(context.Background())
		require.Equal(t, device.IllegalAddress, device.CodeOf(err))
		require.ErrorContains(t, err, "kernel square (square at graphexec/differential_test.go:")
		require.ErrorContains(t, err, "thread (8,0,0), square.ptx:")
		require.Equal(t, 1, strings.Count(device.Join(err, exec.Close(), trace.Close()).Error(), "kernel square"), "said once")
	})
}

// TestReplayAllocatesNothingOnTheSimulatedDevice counts allocations after the launch memo
// contains the replay.
func TestReplayAllocatesNothingOnTheSimulatedDevice(t *testing.T) {
	forEachBackend(t, func(t *testing.T, form graphexec.Backend) {
		dev, err := sim.New(sim.Options{})
		require.NoError(t, err)
		x := program{seed: 3, ops: 20, buffers: 3}.start(t, dev, tracer.Deferred)
		x.tr.Launch(x.square, tracer.Linear(1, 32), x.device[0], x.device[1], bufferLen)
		x.tr.Launch(x.combine, tracer.Linear(1, 32), x.device[0], x.device[1], x.device[0], x.device[2], bufferLen)
		trace, err := x.tr.Finish()
		require.NoError(t, err)
		exec := instantiate(t, dev, trace, form)
		ctx := context.Background()
		replay := func() {
			if err := exec.Replay(ctx); err != nil {
				t.Error(err)
			}
			if err := exec.Wait(ctx); err != nil {
				t.Error(err)
			}
		}
		for range 10 {
			replay()
		}
		require.Zero(t, testing.AllocsPerRun(100, replay))
		require.NoError(t, exec.Close())
		require.NoError(t, trace.Close())
		require.NoError(t, dev.Close())
	})
}

// TestAModuleUnloadedUnderAGraphIsAnError unloads what the Exec launches.
func TestAModuleUnloadedUnderAGraphIsAnError(t *testing.T) {
	forEachBackend(t, func(t *testing.T, form graphexec.Backend) {
		dev, err := sim.New(sim.Options{Race: sim.RaceOn})
		require.NoError(t, err)
		defer dev.Close()
		x := program{seed: 3, buffers: 2}.start(t, dev, tracer.Deferred)
		x.tr.Launch(x.square, tracer.Linear(1, 32), x.device[0], x.device[1], bufferLen)
		trace, err := x.tr.Finish()
		require.NoError(t, err)
		exec := instantiate(t, dev, trace, form)
		require.NoError(t, dev.UnloadModule(traced.Of(trace).Module(0)))
		require.NoError(t, exec.Replay(context.Background()))
		err = exec.Wait(context.Background())
		require.Equal(t, device.InvalidHandle, device.CodeOf(err))
		require.ErrorContains(t, err, "square.ptx, which was unloaded")
	})
}
