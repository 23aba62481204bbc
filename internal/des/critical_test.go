package des

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/device/model"
)

// recorded runs tasks to their end and returns their records by id, and the
// task that ended last.
func recorded(p *model.Profile, tasks []Task) (records []Record, last TaskID) {
	e := demanding(p)
	records = make([]Record, len(tasks))
	last = NoTask
	e.OnEnd(func(r *Record) {
		records[r.ID] = *r
		if last == NoTask || r.Span.End >= records[last].Span.End {
			last = r.ID
		}
	})
	for _, t := range tasks {
		e.Add(t)
	}
	e.Drain()
	return records, last
}

// latent is plain with latencies and a shared link, so that every limit occurs.
func latent() *model.Profile {
	p := plain()
	p.KernelRamp, p.CopyInLatency, p.CopyOutLatency, p.CopyOnLatency, p.HostCallLatency = 1*ns, 2*ns, 3*ns, 4*ns, 5*ns
	p.FaultLatency, p.ConditionLatency, p.SubmitLatency, p.DuplexGBps = 8*ns, 6*ns, 7*ns, 15
	return p
}

// Of every task, all time from its start to its end is put down to some limit;
// and of a run, every instant to one piece of its critical path.
func TestEveryInstantHasOneCause(t *testing.T) {
	r := rand.New(rand.NewPCG(13, 14))
	p := latent()
	seen := Spent{}
	for range 200 {
		tasks := program(r, 1+r.IntN(60))
		for i := range tasks {
			tasks[i].Why = GraphEdge
			if d := tasks[i].Data.(model.Demand); d.Kind == model.Kernel {
				tasks[i].Data = onManagedMemory(r, d)
			}
		}
		records, last := recorded(p, tasks)
		for i := range records {
			require.Equal(t, records[i].Span.End-records[i].Start, records[i].Spent.Total(), "task %d", i)
		}
		end := records[last].Span.End + 3*ns
		for _, from := range []model.Time{0, end / 3} {
			path := CriticalPath(p, from, end, last, func(id TaskID) *Record { return &records[id] })
			sum := model.Time(0)
			for _, piece := range path {
				require.Positive(t, piece.Took)
				sum += piece.Took
				seen[piece.Limit] += piece.Took
			}
			require.Equal(t, end-from, sum)
			require.Equal(t, Synchronize, path[len(path)-1].Limit)
		}
	}
	for _, l := range []Limit{Issue, DRAM, LinkIn, LinkOut, Faults, Latency, Ramp, Queued, HostCall, Declared, Deciding, GraphEdge, Submit, HostCalls} {
		assert.Positive(t, seen[l], "%v never occurs", l)
	}
}

// onManagedMemory is a kernel some of whose bytes may have to move first.
func onManagedMemory(r *rand.Rand, d model.Demand) model.Demand {
	bytes := math.Exp(r.Float64() * 16)
	switch r.IntN(4) {
	case 0:
		d.Faulted = bytes
	case 1:
		d.Bulk = bytes
	}
	return d
}

// Two kernels in a line after a copy that the host enqueued at 50 ns, by hand.
func TestCriticalPathOfALine(t *testing.T) {
	p := latent()
	records, last := recorded(p, []Task{
		{Arrival: 50 * ns, Data: model.Demand{Kind: model.CopyIn, Bytes: 100}},                                    // 50 to 62
		{Deps: []TaskID{0}, Gap: 5 * ns, Why: StreamOrder, Data: kernel(8, 2, 100)},                               // 67 to 168
		{Deps: []TaskID{0}, Gap: 5 * ns, Why: EventWait, Data: model.Demand{Kind: model.Fixed, Duration: 1 * ns}}, // off the path
		{Deps: []TaskID{1, 2}, Gap: 6 * ns, Why: GraphEdge, Data: model.Demand{Kind: model.CopyOn, Bytes: 1000}},  // 174 to 179
	})
	got := CriticalPath(p, 10*ns, 180*ns, last, func(id TaskID) *Record { return &records[id] })
	assert.Equal(t, []Piece{
		{NoTask, HostCalls, 33 * ns}, {NoTask, Submit, 7 * ns},
		{0, LinkIn, 10 * ns}, {0, Ramp, 2 * ns},
		{1, StreamOrder, 5 * ns}, {1, Latency, 100 * ns}, {1, Ramp, 1 * ns},
		{3, GraphEdge, 6 * ns}, {3, DRAM, 1 * ns}, {3, Ramp, 4 * ns},
		{NoTask, Synchronize, 1 * ns},
	}, got)
}

func TestEveryLimitHasANameAndACause(t *testing.T) {
	names := map[string]bool{}
	for l := range limits {
		assert.NotEmpty(t, l.String())
		assert.False(t, names[l.String()], "%v twice", l)
		names[l.String()] = true
		assert.NotEmpty(t, l.Cause().String())
	}
}
