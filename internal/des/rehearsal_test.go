package des

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/device/model"
	"github.com/reprise-gpu/reprise/internal/profiles"
)

// anyDemand is one of any kind, on a small grid of sizes, so that things happen at once.
func anyDemand(r *rand.Rand) model.Demand {
	bytes := float64(int(1) << (10 + 2*r.IntN(7)))
	switch r.IntN(8) {
	case 0:
		return model.Demand{Kind: model.Marker}
	case 1:
		return model.Demand{Kind: model.Fixed, Duration: model.Time(r.IntN(4)) * model.Microsecond}
	case 2:
		return model.Demand{Kind: model.Host, Duration: model.Time(r.IntN(4)) * model.Microsecond}
	case 3:
		return model.Demand{Kind: model.CopyIn, Bytes: bytes}
	case 4:
		return model.Demand{Kind: model.CopyOut, Bytes: bytes}
	case 5:
		return model.Demand{Kind: model.CopyOn, Bytes: bytes}
	}
	d := model.Demand{Kind: model.Kernel, Blocks: float64(1 + r.IntN(3000)), PerSM: float64(1 + r.IntN(8)), Bytes: bytes, BlockCycles: 1500}
	switch r.IntN(8) {
	case 0:
		d.Faulted = bytes
	case 1:
		d.Bulk = bytes
	case 2:
		d.SlowestCycles = 20_000
	}
	return d
}

// randomPlay is an order of n tasks, with dependencies on tasks before.
func randomPlay(r *rand.Rand, n int) *Play {
	p := &Play{Arrival: make([]model.Time, n), Deps: make([][]Dep, n)}
	for _, v := range r.Perm(n) {
		p.Order = append(p.Order, int32(v))
	}
	for i := range p.Order {
		p.redraw(r, i)
	}
	return p
}

// redraw changes the task in one place of the order.
func (p *Play) redraw(r *rand.Rand, i int) {
	v := p.Order[i]
	p.Arrival[v], p.Deps[v] = model.Time(r.IntN(3))*model.Microsecond, nil
	for range min(i, r.IntN(4)) {
		d := Dep{p.Order[max(0, i-1-r.IntN(6))], model.Time(r.IntN(3)) * model.Microsecond}
		if !slices.ContainsFunc(p.Deps[v], func(o Dep) bool { return o.From == d.From }) {
			p.Deps[v] = append(p.Deps[v], d)
		}
	}
}

// byEngine is what an Engine makes of a play. A task that waits with several gaps gets a marker for each.
func byEngine(p *model.Profile, play *Play, demands []model.Demand) (model.Time, []model.Time) {
	task, of := make([]TaskID, len(demands)), map[TaskID]int32{}
	e := New(p, func(id TaskID, _ any) model.Demand {
		if v, ok := of[id]; ok {
			return demands[v]
		}
		return model.Demand{Kind: model.Marker}
	})
	for _, v := range play.Order {
		var deps []TaskID
		for _, d := range play.Deps[v] {
			deps = append(deps, e.Add(Task{Gap: d.Gap, Deps: []TaskID{task[d.From]}}))
		}
		of[e.Next()] = v
		task[v] = e.Add(Task{Arrival: play.Arrival[v], Deps: deps})
	}
	last := e.Drain()
	ends := make([]model.Time, len(demands))
	for v, id := range task {
		ends[v] = e.Span(id).End
	}
	return last, ends
}

// A rehearsal has the times of an engine, whatever was kept before, and gives up only what ends after the limit.
func TestRehearsalIsAnEngine(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	resumed, limited := 0, 0
	for round := range 150 {
		p := profiles.All()[round%len(profiles.All())]
		n := 1 + r.IntN(70)
		demands := make([]model.Demand, n)
		for v := range demands {
			demands[v] = anyDemand(r)
			if !PageFaults(p) {
				demands[v].Faulted = 0
			}
		}
		re := NewRehearsal(p, demands)
		play := randomPlay(r, n)
		for range 20 {
			last, ends := byEngine(p, play, demands)
			limit := never
			if r.IntN(3) == 0 {
				limit = last/2 + model.Time(r.Int64N(int64(last)+1))
			}
			got, ok := re.Run(play, limit)
			require.Equal(t, last <= limit, ok, "round %d", round)
			if re.next.shared > 0 {
				resumed++
			}
			if !ok {
				limited++
			} else {
				require.Equal(t, last, got, "round %d", round)
				require.Equal(t, ends, re.next.end, "round %d", round)
				if r.IntN(2) == 0 {
					re.Keep()
				}
			}
			play = &Play{Order: slices.Clone(play.Order), Arrival: slices.Clone(play.Arrival), Deps: slices.Clone(play.Deps)}
			for range r.IntN(3) {
				play.redraw(r, r.IntN(n))
			}
			if i := r.IntN(n); i > 0 && !slices.ContainsFunc(play.Deps[play.Order[i]], func(d Dep) bool { return d.From == play.Order[i-1] }) {
				play.Order[i-1], play.Order[i] = play.Order[i], play.Order[i-1]
			}
		}
	}
	require.Greater(t, resumed, 500)
	require.Greater(t, limited, 100)
}
