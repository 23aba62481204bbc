package sim

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/device/model"
)

// The suite's kernels: affine(dst, src, a, b, n), add(dst, x, y, n), stray, blocksum.
func kernels(t testing.TB) string {
	text, err := os.ReadFile("../../device/devicetest/kernels.ptx")
	require.NoError(t, err)
	return string(text)
}

// rig is a device with a few buffers, streams and events to write programs for.
type rig struct {
	*Device
	t           testing.TB
	affine, add device.Function
	streams     []device.Stream
	events      []device.Event
	buffers     []device.Ptr
	pinned      device.Ptr
	host        []byte
}

const rigWords = 300

// newRig opens a device that looks for races.
func newRig(t testing.TB, o Options) *rig {
	o.Race = RaceOn
	return newUncheckedRig(t, o)
}

// newUncheckedRig is for random programs, which race, and for counting what the host
// spends.
func newUncheckedRig(t testing.TB, o Options) *rig {
	d, err := New(o)
	require.NoError(t, err)
	r := &rig{Device: d, t: t}
	m, err := d.LoadModule("kernels.ptx", kernels(t))
	require.NoError(t, err)
	r.affine, err = d.Function(m, "affine")
	require.NoError(t, err)
	r.add, err = d.Function(m, "add")
	require.NoError(t, err)
	for i := range 4 {
		s, err := d.CreateStream(-i)
		require.NoError(t, err)
		e, err := d.CreateEvent()
		require.NoError(t, err)
		p, err := d.Alloc(4 * rigWords)
		require.NoError(t, err)
		r.streams, r.events, r.buffers = append(r.streams, s), append(r.events, e), append(r.buffers, p)
	}
	r.pinned, r.host, err = d.AllocHost(4 * rigWords)
	require.NoError(t, err)
	return r
}

func (r *rig) launchAffine(dst, src device.Ptr, a, b uint32) *device.Launch {
	p := binary.LittleEndian.AppendUint64(nil, uint64(dst))
	p = binary.LittleEndian.AppendUint64(p, uint64(src))
	for _, v := range []uint32{a, b, rigWords} {
		p = binary.LittleEndian.AppendUint32(p, v)
	}
	return r.over(r.affine, p)
}

func (r *rig) launchAdd(dst, x, y device.Ptr) *device.Launch {
	var p []byte
	for _, v := range []device.Ptr{dst, x, y} {
		p = binary.LittleEndian.AppendUint64(p, uint64(v))
	}
	return r.over(r.add, binary.LittleEndian.AppendUint32(p, rigWords))
}

func (r *rig) over(f device.Function, params []byte) *device.Launch {
	return &device.Launch{Function: f, Grid: device.Dim3{X: 5, Y: 1, Z: 1}, Block: device.Dim3{X: 64, Y: 1, Z: 1}, Params: params}
}

func (r *rig) ok(err error) {
	if err != nil {
		r.t.Helper()
		r.t.Fatal(err)
	}
}

// work is random work on the rig's buffers. Few different ones, so that equal
// launches on equal data occur.
func (r *rig) work(rng *rand.Rand) device.Work {
	buffer := func() device.Ptr { return r.buffers[rng.IntN(len(r.buffers))] }
	switch rng.IntN(8) {
	case 0:
		return &device.Memset{Dst: buffer(), Value: uint32(rng.IntN(2)), Width: 4, Count: rigWords}
	case 1:
		return &device.Copy{Dst: buffer(), Src: buffer(), Bytes: 4 * rigWords}
	case 2:
		return &device.Copy{Dst: buffer(), Src: r.pinned, Bytes: 4 * rigWords}
	case 3:
		return &device.Copy{Dst: buffer() + 40, Src: buffer(), Bytes: int64(rng.IntN(400))}
	case 4, 5:
		return r.launchAffine(buffer(), buffer(), uint32(rng.IntN(2)), uint32(rng.IntN(2)))
	default:
		return r.launchAdd(buffer(), buffer(), buffer())
	}
}

// run plays a random program: a graph that is replayed with changing input and
// updates, and other streams' work in between. It returns everything one can
// see: bytes and virtual times.
func (r *rig) run(seed uint64) (trace []string) {
	rng := rand.New(rand.NewPCG(seed, 17))
	g, err := r.CreateGraph()
	r.ok(err)
	var nodes []device.Node
	var works []device.Work
	for range 3 + rng.IntN(8) {
		var deps []device.Node
		for k := rng.IntN(3); k > 0 && len(nodes) > 0; k-- {
			deps = append(deps, nodes[rng.IntN(len(nodes))])
		}
		w := r.work(rng)
		n, err := r.AddNode(g, deps, w)
		r.ok(err)
		nodes, works = append(nodes, n), append(works, w)
	}
	x, err := r.Instantiate(g)
	r.ok(err)
	see := func() {
		out := make([]byte, 4*rigWords)
		for _, p := range r.buffers {
			r.ok(r.Read(out, p))
			trace = append(trace, fmt.Sprintf("%x", out))
		}
		trace = append(trace, fmt.Sprint(r.Now()))
	}
	for range 20 {
		switch rng.IntN(6) {
		case 0:
			binary.LittleEndian.PutUint32(r.host[4*rng.IntN(rigWords):], uint32(rng.IntN(3)))
		case 1:
			r.ok(r.Submit(r.streams[rng.IntN(4)], r.work(rng)))
		case 2:
			i := rng.IntN(len(works))
			if l, ok := works[i].(*device.Launch); ok && l.Function == r.affine {
				r.ok(r.UpdateNode(x, nodes[i], r.launchAffine(r.buffers[rng.IntN(4)], r.buffers[0], 1, uint32(rng.IntN(3)))))
			}
		case 3:
			i, j := rng.IntN(4), rng.IntN(4)
			r.ok(r.Record(r.events[i], r.streams[i]))
			r.ok(r.Wait(r.streams[j], r.events[i]))
		case 4:
			r.ok(r.Write(r.buffers[rng.IntN(4)], []byte{byte(rng.IntN(2)), 1, 2, 3}))
		default:
			r.ok(r.Synchronize(r.streams[rng.IntN(4)]))
			trace = append(trace, fmt.Sprint(r.Now()))
		}
		r.ok(r.LaunchGraph(x, r.streams[0]))
		if rng.IntN(2) == 0 {
			see()
		}
	}
	see()
	return trace
}

// Reusing results changes neither bytes nor times.
func TestMemoIsInvisible(t *testing.T) {
	hits, seeds := int64(0), uint64(150)
	if testing.Short() {
		seeds = 40
	}
	for seed := range seeds {
		on, off := newUncheckedRig(t, Options{}), newUncheckedRig(t, Options{Memo: MemoOff})
		// A memo of three results that evicts all the time.
		small := newUncheckedRig(t, Options{MemoBytes: 3 * (4*rigWords + entryOverhead)})
		want := off.run(seed)
		require.Equal(t, want, on.run(seed), "seed %d", seed)
		require.Equal(t, want, small.run(seed), "seed %d, small memo", seed)
		require.LessOrEqual(t, small.Counters().MemoBytes, int64(3*(4*rigWords+entryOverhead)))
		require.Zero(t, off.Counters().MemoHits)
		hits += on.Counters().MemoHits
	}
	assert.Greater(t, hits, int64(3*seeds), "the programs must exercise the memo")
}

func TestRunsAreDeterministic(t *testing.T) {
	for seed := range uint64(30) {
		want := newUncheckedRig(t, Options{}).run(seed)
		require.Equal(t, want, newUncheckedRig(t, Options{}).run(seed), "seed %d", seed)
		procs := runtime.GOMAXPROCS(1)
		one := newUncheckedRig(t, Options{}).run(seed)
		runtime.GOMAXPROCS(4)
		four := newUncheckedRig(t, Options{}).run(seed)
		runtime.GOMAXPROCS(procs)
		require.Equal(t, want, one, "seed %d, one processor", seed)
		require.Equal(t, want, four, "seed %d, four processors", seed)
	}
}

func TestUnchangedReplaysHitAndAllocateNothing(t *testing.T) {
	r := newUncheckedRig(t, Options{})
	g, err := r.CreateGraph()
	r.ok(err)
	a, err := r.AddNode(g, nil, r.launchAffine(r.buffers[1], r.buffers[0], 2, 1))
	r.ok(err)
	b, err := r.AddNode(g, nil, r.launchAffine(r.buffers[2], r.buffers[0], 3, 1))
	r.ok(err)
	_, err = r.AddNode(g, []device.Node{a, b}, r.launchAdd(r.buffers[3], r.buffers[1], r.buffers[2]))
	r.ok(err)
	x, err := r.Instantiate(g)
	r.ok(err)
	l, err := r.CompileCommands([]device.Command{
		{Kind: device.Run, Stream: r.streams[1], Work: device.Nothing{}},
		{Kind: device.Record, Stream: r.streams[1], Event: r.events[1]},
		{Kind: device.Await, Stream: r.streams[0], Event: r.events[1]},
	})
	r.ok(err)
	replay := func() {
		r.ok(r.SubmitCommands(l, 0, 3))
		r.ok(r.LaunchGraph(x, r.streams[0]))
		r.ok(r.Synchronize(r.streams[0]))
	}
	var took model.Time
	for range 100 {
		start := r.Device.host
		replay()
		took = r.Device.host - start
	}
	before := r.Counters()
	allocs := testing.AllocsPerRun(100, replay)
	after := r.Counters()
	assert.Zero(t, allocs)
	assert.Equal(t, after.Launches-before.Launches, after.MemoHits-before.MemoHits, "every launch hits")
	assert.Equal(t, before.MemoHashed, after.MemoHashed, "and hashes nothing")
	start := r.Device.host
	replay()
	assert.Equal(t, took, r.Device.host-start, "every replay takes the same virtual time")
}

func TestMemoGivesUpOnInputThatAlwaysChanges(t *testing.T) {
	r := newRig(t, Options{})
	r.ok(r.Write(r.buffers[0], append([]byte{1}, make([]byte, 4*rigWords-1)...)))
	l := r.launchAffine(r.buffers[0], r.buffers[0], 3, 1)
	for range 5000 {
		r.ok(r.Submit(r.streams[0], l))
	}
	r.ok(r.SynchronizeAll())
	c := r.Counters()
	assert.Equal(t, int64(5000), c.Launches)
	assert.Zero(t, c.MemoHits)
	assert.Zero(t, c.MemoEntries)
	assert.Less(t, c.MemoHashed, int64(2*maxMisses*4*rigWords))
}
