package bench

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/graphexec"
	"github.com/reprise-gpu/reprise/internal/null"
	"github.com/reprise-gpu/reprise/internal/sim"
	"github.com/reprise-gpu/reprise/ir"
	"github.com/reprise-gpu/reprise/optimizer"
)

func openSim(t testing.TB) device.Device { return openWith(t, sim.Options{Race: sim.RaceOn}) }

func openWith(t testing.TB, o sim.Options) device.Device {
	dev, err := sim.New(o)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, dev.Close()) })
	return dev
}

func newInstance(t testing.TB, dev device.Device, w *Workload, size int) *Instance {
	in, err := w.New(dev, Params{Size: size})
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, in.Close()) })
	return in
}

func planned(t testing.TB, in *Instance, strategy string) *optimizer.Result {
	plan, err := optimizer.Plan(in.Trace.Graph, optimizer.Options{Strategy: strategy, Verify: true})
	require.NoError(t, err)
	return plan
}

// edges lists dependencies by operation number, from 1.
func edges(g *ir.Graph) []string {
	var list []string
	for _, d := range g.Deps() {
		list = append(list, fmt.Sprintf("%d-%d", d.From+1, d.To+1))
	}
	slices.Sort(list)
	return list
}

func TestGraphsAreThoseOfTheBenchmarks(t *testing.T) {
	for _, c := range []struct {
		workload        *Workload
		reduced, extra  string
		lanes, matching int
	}{
		// The copies of x and y, the clearing of res, the three kernels, the copy of res.
		{vec, "1-4 2-5 4-6 5-6 3-6 6-7", "", 3, 4},
		{bs, "1-2 2-3 4-5 5-6 7-8 8-9 10-11 11-12 13-14 14-15 16-17 17-18 19-20 20-21 22-23 23-24 25-26 26-27 28-29 29-30", "", 10, 20},
		// The clearing of the extrema, the eleven kernels, the copy of the result.
		{img, "2-5 5-12 3-6 6-7 6-8 1-7 1-8 7-9 8-9 9-11 11-12 4-10 10-11 12-13", "2-12 3-11 6-9", 4, 9},
		// rr_1, the copy of r1, nb_1, the copy of r2, rr_2, nb_2, nb_3, rr_3, nb_4, two softmaxes, argmax, the copy of r.
		{ml, "2-3 3-6 6-7 7-9 9-10 10-12 1-5 4-5 5-8 8-11 11-12 12-13", "3-7 3-9 6-9", 3, 10},
		{hits, hitsReduced(), hitsExtra(), 10, 32},
		// The copy of x, the clearing of res, a network, the copy of y, a network, concat, dot_product, the copy of res.
		{dl, "1-3 3-4 4-5 5-10 6-7 7-8 8-9 9-10 2-11 10-11 11-12", "", 3, 9},
	} {
		t.Run(c.workload.Name, func(t *testing.T) {
			in := newInstance(t, null.New(), c.workload, c.workload.Tiny)
			plan, err := optimizer.Plan(in.Trace.Graph, optimizer.Options{
				Strategy: "nimble", Passes: []string{"hazards", "reduce", "assign", "syncs"}, Verify: true,
			})
			require.NoError(t, err)
			assert.ElementsMatch(t, strings.Fields(c.reduced), edges(plan.Reduced))
			assert.ElementsMatch(t, strings.Fields(c.reduced+" "+c.extra), edges(plan.Analyzed))
			assert.Equal(t, c.lanes, plan.Schedule.Lanes)
			assert.Equal(t, len(plan.Reduced.Deps())-c.matching, plan.Schedule.Syncs(), "|E'| - |M|")
			assert.Zero(t, planned(t, in, "serial").Schedule.Syncs())
		})
	}
}

// hitsReduced are the edges of HITS: two fills, four copies for each chain, five rounds
// of two products, two sums and two divisions, and two copies back.
func hitsReduced() string {
	list := []string{"1-11 1-12 3-11 4-11 5-11 6-11 7-12 8-12 9-12 10-12 2-13 2-14"}
	for first := 11; first < 41; first += 6 {
		a1, b1, a2, b2, a3, b3 := first, first+1, first+2, first+3, first+4, first+5
		list = append(list, fmt.Sprintf("%d-%d %d-%d %d-%d %d-%d", a1, a2, a2, a3, b1, b2, b2, b3))
		list = append(list, fmt.Sprintf("%d-%d %d-%d", b1, a3, a1, b3)) // overwrite what the other product reads
		if next := first + 6; next < 41 {
			list = append(list, fmt.Sprintf("%d-%d %d-%d %d-%d %d-%d", a3, next, a3, next+1, b3, next, b3, next+1))
		}
	}
	return strings.Join(append(list, "39-41 40-42"), " ")
}

// hitsExtra are the edges that others imply: divisions read the products, products
// overwrite what sums read, later rounds use the counters, the norms and the matrices,
// and the copies back overwrite what the copies at the start read.
func hitsExtra() string {
	list := []string{"10-41 6-42"}
	for first := 11; first < 41; first += 6 {
		list = append(list, fmt.Sprintf("%d-%d %d-%d", first, first+4, first+1, first+5))
		if next := first + 6; next < 41 {
			list = append(list, fmt.Sprintf("%d-%d %d-%d", first+2, next, first+3, next+1))
			list = append(list, fmt.Sprintf("1-%d 1-%d 2-%d 2-%d", next, next+1, next+2, next+3))
			list = append(list, fmt.Sprintf("3-%d 4-%d 5-%d 7-%d 8-%d 9-%d", next, next, next, next+1, next+1, next+1))
		}
	}
	return strings.Join(list, " ")
}

func TestTracesSurviveTheirText(t *testing.T) {
	for _, w := range Workloads() {
		in := newInstance(t, null.New(), w, w.Tiny)
		plan := planned(t, in, "nimble")
		file, err := ir.Parse("trace.rir", string(ir.Format(plan.Schedule.Graph, plan.Schedule)))
		require.NoError(t, err)
		file.Graph.Trace = in.Trace.Graph.Trace // which text does not have
		assert.Equal(t, plan.Schedule.Graph, file.Graph)
		assert.Equal(t, plan.Schedule, file.Schedule)
	}
}

// TestEveryCombinationLeavesTheSameBytes compares every buffer, each poisoned or
// rewritten before the replay, in every memory mode. It also holds for VEC, although it
// adds floats atomically: the simulated device does so in a fixed order. What managed
// memory adds is the executors' business, so that two strategies are enough there.
func TestEveryCombinationLeavesTheSameBytes(t *testing.T) {
	for _, w := range Workloads() {
		t.Run(w.Name, func(t *testing.T) {
			var want map[string][]byte
			for _, memory := range []Memory{Pinned, Prefetch, Managed} {
				dev := openSim(t)
				in, err := w.New(dev, Params{Size: w.Tiny, Memory: memory})
				require.NoError(t, err)
				strategies := []string{"serial", optimizer.DefaultStrategy}
				if memory == Pinned {
					strategies = everyStrategy()
				}
				seen := map[string]bool{} // plans, which strategies often share at tiny sizes
				for _, strategy := range strategies {
					plan := planned(t, in, strategy).Schedule
					text := placement(plan)
					if seen[text] {
						continue
					}
					seen[text] = true
					for _, form := range graphexec.Backends() {
						got := left(t, dev, in, plan, form)
						if want == nil {
							want = got
						}
						for name, data := range got {
							assert.Equal(t, want[name], data, "@%s, %v, %s/%v", name, memory, strategy, form)
						}
					}
				}
				require.NoError(t, in.Close())
			}
		})
	}
}

// placement returns the text of a schedule without the line with its strategy.
func placement(s *ir.Schedule) string {
	_, body, _ := strings.Cut(ir.PrintSchedule(s), "\n")
	return body
}

func everyStrategy() []string {
	var names []string
	for _, s := range optimizer.Strategies() {
		names = append(names, s.Name)
	}
	return names
}

// left returns the contents of each buffer after two replays.
func left(t testing.TB, dev device.Device, in *Instance, plan *ir.Schedule, form graphexec.Backend) map[string][]byte {
	exec, err := graphexec.Instantiate(dev, plan, in.Trace, form)
	require.NoError(t, err)
	for range 2 {
		_, err = replayOnce(context.Background(), dev, in, exec)
		require.NoError(t, err)
	}
	_, err = in.Check()
	require.NoError(t, err)
	require.NoError(t, exec.Close())
	all := map[string][]byte{}
	for i, b := range in.Trace.Graph.Buffers {
		data := make([]byte, b.Size())
		require.NoError(t, dev.Read(data, in.Trace.Pointer(ir.BufferID(i))))
		all[b.Name] = data
	}
	return all
}

// TestMemoryModesSayWhatMoves expects that a replay in a mode of managed memory moves the arrays that the host has
// rewritten, and that the serial program and its plan move the same ones.
func TestMemoryModesSayWhatMoves(t *testing.T) {
	kinds := func(w *Workload, memory Memory) string {
		in, err := w.New(null.New(), Params{Size: w.Tiny, Memory: memory})
		require.NoError(t, err)
		copies, prefetches := 0, 0
		for _, op := range in.Trace.Graph.Ops {
			switch op.Kind {
			case ir.KindCopy:
				copies++
			case ir.KindPrefetch:
				prefetches++
			}
		}
		require.NoError(t, in.Close())
		return fmt.Sprintf("%d copies, %d prefetches", copies, prefetches)
	}
	for _, c := range []struct {
		w                         *Workload
		pinned, prefetch, managed string
	}{
		{vec, "3 copies, 0 prefetches", "1 copies, 2 prefetches", "1 copies, 0 prefetches"},
		{bs, "20 copies, 0 prefetches", "0 copies, 10 prefetches", "0 copies, 0 prefetches"},
		{hits, "10 copies, 0 prefetches", "0 copies, 8 prefetches", "0 copies, 0 prefetches"},
		{img, "1 copies, 0 prefetches", "0 copies, 1 prefetches", "0 copies, 0 prefetches"},
		{ml, "3 copies, 0 prefetches", "0 copies, 2 prefetches", "0 copies, 0 prefetches"},
		{dl, "3 copies, 0 prefetches", "1 copies, 2 prefetches", "1 copies, 0 prefetches"},
	} {
		assert.Equal(t, c.pinned, kinds(c.w, Pinned), c.w.Name)
		assert.Equal(t, c.prefetch, kinds(c.w, Prefetch), c.w.Name)
		assert.Equal(t, c.managed, kinds(c.w, Managed), c.w.Name)
	}
}

// TestEveryReplayMovesItsData expects that every replay starts with its data in the place that the mode defines: no
// replay takes less time than the one before.
func TestEveryReplayMovesItsData(t *testing.T) {
	for _, memory := range []Memory{Pinned, Prefetch, Managed} {
		for _, sampled := range []bool{false, true} {
			o := sim.Options{}
			if sampled {
				o.Sample = 4
			}
			dev := openWith(t, o)
			in, err := vec.New(dev, Params{Size: 1 << 18, Memory: memory, Sampled: sampled})
			require.NoError(t, err)
			exec, err := graphexec.Instantiate(dev, planned(t, in, "nimble").Schedule, in.Trace, graphexec.Graph)
			require.NoError(t, err)
			var times []time.Duration
			for range 6 {
				took, err := replayOnce(context.Background(), dev, in, exec)
				require.NoError(t, err)
				times = append(times, took)
			}
			assert.InEpsilon(t, times[3], times[5], 1e-3, "%v, sampled %v", memory, sampled)
			// 2 MiB over 55 GB/s.
			assert.Greater(t, times[5], 36*time.Microsecond, "%v, sampled %v", memory, sampled)
			require.NoError(t, exec.Close())
			require.NoError(t, in.Close())
		}
	}
}

func TestEveryDroppedWaitIsRefused(t *testing.T) {
	dev := null.New()
	in := newInstance(t, dev, img, 64)
	s := planned(t, in, "nimble").Schedule
	dropped := 0
	for op := range s.Waits {
		for i := range s.Waits[op] {
			broken := *s
			broken.Waits = slices.Clone(s.Waits)
			broken.Waits[op] = slices.Delete(slices.Clone(s.Waits[op]), i, i+1)
			_, err := graphexec.Instantiate(dev, &broken, in.Trace, graphexec.Streams)
			assert.ErrorContains(t, err, s.Waits[op][i].String(), "the error names what is not waited for")
			dropped++
		}
	}
	assert.Equal(t, 5, dropped)
}

// deaf is a device that ignores every wait for an event.
type deaf struct{ device.Device }

func (d deaf) CompileCommands(all []device.Command) (device.CommandList, error) {
	all = slices.Clone(all)
	for i := range all {
		if all[i].Kind == device.Await {
			all[i] = device.Command{Kind: device.Run, Stream: all[i].Stream, Work: device.Nothing{}}
		}
	}
	return d.Device.CompileCommands(all)
}

// lazy is a device that runs nothing but copies and the last node of a graph.
type lazy struct{ device.Device }

func (d lazy) AddNode(g device.Graph, deps []device.Node, w device.Work) (device.Node, error) {
	last := []string{"reduce", "combine", "argmax", "divide", "dot_product"}
	if l, ok := w.(*device.Launch); ok && !slices.ContainsFunc(last, func(name string) bool { return strings.Contains(l.Label, name) }) {
		w = device.Nothing{}
	}
	return d.Device.AddNode(g, deps, w)
}

// TestChecksNoticeWorkDoneTooEarlyOrNotAtAll runs good schedules on broken
// devices, after good replays have left right values everywhere.
func TestChecksNoticeWorkDoneTooEarlyOrNotAtAll(t *testing.T) {
	for _, w := range Workloads() {
		dev := openWith(t, sim.Options{}) // without the race detector, which notices more
		size := w.Tiny
		if w == img {
			size = 512 // large enough that what comes too early is really early
		}
		in := newInstance(t, dev, w, size)
		good := planned(t, in, "nimble").Schedule
		replay := func(dev device.Device, form graphexec.Backend) error {
			exec, err := graphexec.Instantiate(dev, good, in.Trace, form)
			require.NoError(t, err)
			defer func() { assert.NoError(t, exec.Close()) }()
			_, err = replayOnce(context.Background(), dev, in, exec)
			require.NoError(t, err)
			_, err = in.Check()
			return err
		}
		require.NoError(t, replay(dev, graphexec.Streams))
		if w == img {
			// VEC's one wait is for a kernel that has started by then in any case,
			// and on the simulated device a kernel's stores are there from its start.
			assert.Error(t, replay(deaf{dev}, graphexec.Streams), "without waits")
		}
		require.NoError(t, replay(dev, graphexec.Graph))
		assert.Error(t, replay(lazy{dev}, graphexec.Graph), "%s with few of its kernels", w.Name)
	}
}

// TestRaceDetectorNoticesMissingWaits expects the race detector to report a missing wait even if the bytes are right.
func TestRaceDetectorNoticesMissingWaits(t *testing.T) {
	for _, w := range Workloads() {
		dev, err := sim.New(sim.Options{Race: sim.RaceOn})
		require.NoError(t, err)
		in := newInstance(t, dev, w, w.Tiny)
		plan := planned(t, in, "nimble").Schedule
		if plan.Syncs() == 0 {
			continue // no wait to miss
		}
		exec, err := graphexec.Instantiate(deaf{dev}, plan, in.Trace, graphexec.Streams)
		require.NoError(t, err)
		_, err = replayOnce(context.Background(), dev, in, exec)
		err = device.Join(err, dev.SynchronizeAll()) // a replay does not wait for all lanes
		var race *sim.RaceError
		require.ErrorAs(t, err, &race, w.Name)
		for _, f := range race.Findings {
			assert.Equal(t, sim.DataRace, f.Kind)
			assert.Contains(t, f.Accesses[0].Work, "bench/"+w.Name+".go:")
		}
		require.NoError(t, exec.Close())
	}
}

func TestVECApproachesItsLimit(t *testing.T) {
	dev := openSim(t)
	in := newInstance(t, dev, vec, 1<<20)
	exec, err := graphexec.Instantiate(dev, planned(t, in, "nimble").Schedule, in.Trace, graphexec.Graph)
	require.NoError(t, err)
	defer exec.Close()
	_, err = replayOnce(context.Background(), dev, in, exec)
	require.NoError(t, err)
	diff, err := in.Check()
	require.NoError(t, err)
	assert.Less(t, diff, 1e-4)
	var res [4]byte
	res0 := ir.BufferID(slices.IndexFunc(in.Trace.Graph.Buffers, func(b ir.Buffer) bool { return b.Name == "res" }))
	require.NoError(t, dev.Read(res[:], in.Trace.Pointer(res0)))
	got := math.Float32frombits(uint32(res[0]) | uint32(res[1])<<8 | uint32(res[2])<<16 | uint32(res[3])<<24)
	assert.InDelta(t, -math.Pi*math.Pi/2, got, 1e-4)
}

func TestCheckNoticesAWrongResult(t *testing.T) {
	for _, w := range Workloads() {
		dev := openSim(t)
		in := newInstance(t, dev, w, w.Tiny)
		require.NoError(t, in.Reset())
		_, err := in.Check() // nothing has run
		assert.Error(t, err, w.Name)
	}
}

func TestAWrongResultIsARecordThatIsNotOK(t *testing.T) {
	broken := *vec
	broken.trace = func(dev device.Device, p Params) (*Instance, error) {
		in, err := vec.New(dev, p)
		in.Check = func() (float64, error) { return math.NaN(), errors.New("res = 42, want 0") }
		return in, err
	}
	records, err := Run(context.Background(), Config{
		Open:       func() (device.Device, error) { return sim.New(sim.Options{Race: sim.RaceOn}) },
		Workloads:  []*Workload{&broken},
		Sizes:      []int{64},
		Strategies: []string{"nimble"},
		Backends:   graphexec.Backends(),
		Iterations: 2,
	})
	require.NoError(t, err)
	require.Len(t, records, 2)
	for _, r := range records {
		assert.False(t, r.OK)
		assert.Equal(t, math.MaxFloat64, r.MaxError, "JSON has no NaN")
		assert.Equal(t, "replay 0: res = 42, want 0", r.Error)
	}
	var table strings.Builder
	require.NoError(t, WriteTable(&table, records))
	assert.Contains(t, table.String(), "WRONG")
}

func TestProgressCountsEveryReplay(t *testing.T) {
	var last, total int
	_, err := Run(context.Background(), Config{
		Open:       func() (device.Device, error) { return sim.New(sim.Options{Race: sim.RaceOn}) },
		Workloads:  []*Workload{vec},
		Sizes:      []int{64, 65},
		Strategies: []string{"serial", "nimble"},
		Backends:   graphexec.Backends(),
		Iterations: 5,
		Progress: func(_ string, done, of int) {
			assert.Equal(t, last+1, done)
			last, total = done, of
		},
	})
	require.NoError(t, err)
	assert.Equal(t, 2*2*2*5, last)
	assert.Equal(t, last, total)
}
