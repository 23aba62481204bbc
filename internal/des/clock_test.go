package des

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/device/model"
)

// Devices on one clock that nothing links run as each would alone.
func TestDevicesOfAClockDoNotSlowEachOther(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for range 50 {
		clock := NewClock()
		ids := map[TaskID]Span{}
		var want []Span
		type entry struct {
			on   int
			task Task
		}
		var all []entry
		var engines []*Engine
		for k := range 3 {
			tasks := program(r, 60)
			alone := demanding(plain())
			for _, task := range tasks {
				alone.Add(task)
			}
			alone.Drain()
			for i, task := range tasks {
				want = append(want, alone.Span(TaskID(i)))
				all = append(all, entry{k, task})
			}
			engines = append(engines, clock.Engine(plain(), alone.start))
			engines[k].OnEnd(func(r *Record) { ids[r.ID] = r.Span })
		}
		// The ids of the k-th program begin at 60 k.
		for i := range all {
			for d := range all[i].task.Deps {
				all[i].task.Deps[d] += TaskID(60 * all[i].on)
			}
			task := all[i].task
			engines[all[i].on].Add(task)
		}
		engines[r.IntN(3)].Drain()
		for _, e := range engines {
			e.Drain()
			e.Leave()
		}
		for i := range all {
			require.Equal(t, want[i], ids[TaskID(i)], "task %d", i)
		}
		assert.Empty(t, clock.engines)
	}
}

// A task follows one of another device. Whichever device is waited for, all tasks run in order.
func TestTasksDependAcrossDevices(t *testing.T) {
	clock := NewClock()
	var order []any
	start := func(_ TaskID, data any) model.Demand {
		order = append(order, data)
		return model.Demand{Kind: model.Fixed, Duration: 10 * ns}
	}
	a, b := clock.Engine(plain(), start), clock.Engine(plain(), start)
	late := a.Add(Task{Arrival: 5 * ns, Data: "late"})
	early := b.Add(Task{Arrival: 1 * ns, Data: "early"})
	after := a.Add(Task{Arrival: 2 * ns, Gap: 3 * ns, Deps: []TaskID{early}, Data: "after"})
	last := b.Add(Task{Deps: []TaskID{after, late}, Gap: ns, Data: "last"})
	assert.Equal(t, 15*ns, a.Wait(late))
	assert.Equal(t, []any{"early", "late", "after"}, order)
	assert.Equal(t, 35*ns, b.Wait(last))
	assert.Equal(t, 24*ns, a.Drain())
	assert.Panics(t, func() { a.Add(Task{Arrival: clock.Now()}); a.Leave() }, "it has work")
}

// A held task of one device ends when another releases it, at the time of the clock.
func TestOneDeviceReleasesWhatAnotherHolds(t *testing.T) {
	clock := NewClock()
	a := clock.Engine(plain(), func(TaskID, any) model.Demand { return model.Demand{Kind: Held} })
	b := clock.Engine(plain(), func(TaskID, any) model.Demand { return model.Demand{Kind: model.Fixed, Duration: 50 * ns} })
	held := a.Add(Task{})
	b.Add(Task{Arrival: 10 * ns})
	b.OnEnd(func(*Record) { clock.Release(held) })
	end, ok := a.TryReach(a.Mark())
	require.True(t, ok)
	assert.Equal(t, 60*ns, end)
}
