package des

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/device/model"
)

// A mark is reached when the tasks that there were have ended, also one that waits long, and not those added since.
func TestAMarkIsOfTheTasksThatThereAre(t *testing.T) {
	e := New(plain(), func(_ TaskID, data any) model.Demand {
		return model.Demand{Kind: model.Fixed, Duration: data.(model.Time)}
	})
	e.Add(Task{Data: 10 * ns})
	late := e.Add(Task{Arrival: 50 * ns, Data: 5 * ns})
	m := e.Mark()
	chain := e.Add(Task{Data: 100 * ns})
	for range 5 {
		chain = e.Add(Task{Data: 100 * ns, Deps: []TaskID{chain}})
	}
	end, ok := e.TryReach(m)
	require.True(t, ok)
	assert.Equal(t, 55*ns, end)
	assert.True(t, e.Ended(late))
	assert.False(t, e.Idle())
	all := e.Mark()
	end, ok = e.TryReach(all)
	require.True(t, ok)
	assert.Equal(t, 600*ns, end)
	assert.True(t, e.Idle())
	assert.Empty(t, e.marks)
	end, ok = e.TryReach(e.Mark())
	assert.True(t, ok)
	assert.Equal(t, 600*ns, end, "the latest end so far")
}

// What a marked task unfolds into is marked, round by round; what unfolds beside it later is not. The clock may stop on
// the way.
func TestAMarkHoldsWhatUnfolds(t *testing.T) {
	var e *Engine
	left := map[string]int{"loop": 3, "other": 50}
	ended := map[any]int{}
	e = New(plain(), func(id TaskID, data any) model.Demand {
		name, is := data.(string)
		if !is {
			return model.Demand{Kind: model.Fixed, Duration: 10 * ns}
		}
		if left[name]--; left[name] >= 0 {
			behind := e.Detach(id)
			body := e.Add(Task{Arrival: e.Now(), Deps: []TaskID{id}, Data: len(name)})
			e.Attach(e.Add(Task{Arrival: e.Now(), Deps: []TaskID{id, body}, Data: name}), behind)
		}
		return model.Demand{Kind: Condition}
	})
	e.OnEnd(func(r *Record) { ended[r.Data]++ })
	loop := e.Add(Task{Data: "loop"})
	last := e.Add(Task{Deps: []TaskID{loop}, Data: 0})
	m := e.Mark()
	e.Add(Task{Data: "other"})
	looks := 0
	e.StopWhen(func() bool { looks++; return looks%3 == 0 })
	for ok := false; !ok; {
		_, ok = e.TryReach(m)
	}
	assert.True(t, e.Ended(last))
	assert.Equal(t, 3, ended[len("loop")], "rounds")
	assert.Equal(t, 4, ended["loop"], "decisions")
	assert.Less(t, ended["other"], 10)
	e.StopWhen(nil)
	e.Drain()
	assert.Equal(t, 51, ended["other"])
}

// A mark made in the middle of a loop holds the rest of it, without a task behind it.
func TestAMarkInALoopHoldsTheRest(t *testing.T) {
	var e *Engine
	rounds := 0
	e = New(plain(), func(id TaskID, data any) model.Demand {
		if data == nil {
			return model.Demand{Kind: model.Fixed, Duration: 10 * ns}
		}
		if rounds++; rounds <= 5 {
			behind := e.Detach(id)
			body := e.Add(Task{Arrival: e.Now(), Deps: []TaskID{id}})
			e.Attach(e.Add(Task{Arrival: e.Now(), Deps: []TaskID{id, body}, Data: data}), behind)
		}
		return model.Demand{Kind: Condition}
	})
	e.Add(Task{Data: "loop"})
	for rounds < 3 {
		e.Step()
	}
	_, ok := e.TryReach(e.Mark())
	require.True(t, ok)
	assert.Equal(t, 6, rounds)
	assert.True(t, e.Idle())
}
