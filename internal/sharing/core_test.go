package sharing

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestUnitsRunOnceAndInOrder drives random programs under every policy: each unit is granted once, in order, stages end with
// their last unit, and nothing is left.
func TestUnitsRunOnceAndInOrder(t *testing.T) {
	for seed := range uint64(60) {
		for _, p := range policies() {
			r := rand.New(rand.NewPCG(seed, 7))
			s := newSerial(&checked{Policy: p, t: t, next: map[*Program]int{}})
			var clients []*client
			for i := range 1 + r.IntN(5) {
				var stages []Stage
				for range 1 + r.IntN(3) {
					var times []time.Duration
					for range 1 + r.IntN(8) {
						times = append(times, time.Duration(1+r.IntN(200))*us)
					}
					stages = append(stages, oneStage(times...)...)
				}
				c := s.client("p", r.IntN(Classes), stages, 0, logNormal(seed+uint64(i), 200*us, 1))
				clients = append(clients, c)
			}
			clients[0].p.Class = Classes - 1 // makes progress under every policy
			clients[0].requests = 20
			s.core.programs = nil
			for _, c := range clients {
				c.p = s.core.Add(c.p.Name, c.p.Class, c.stages)
			}
			s.run(clients...)
			flying := 0
			for _, c := range clients {
				flying += len(c.p.flying)
			}
			require.Equal(t, s.core.flying, flying)
		}
	}
}

// checked is a policy whose grants are checked.
type checked struct {
	Policy
	t    *testing.T
	next map[*Program]int
}

func (c *checked) Next(core *Core, now time.Duration) (Grant, time.Duration) {
	g, wake := c.Policy.Next(core, now)
	if g.Units > 0 {
		p := g.Program
		require.True(c.t, p.ready())
		if p.next == 0 {
			c.next[p] = 0
		}
		require.Equal(c.t, c.next[p], p.next)
		require.LessOrEqual(c.t, p.next+g.Units, len(p.units()))
		c.next[p] += g.Units
	}
	return g, wake
}

// TestCancelAndRemove checks that a program can leave at any time.
func TestCancelAndRemove(t *testing.T) {
	c := New(NewFill(Fill{Guard: noGuard}))
	a, b := c.Add("a", 9, oneStage(us, us)), c.Add("b", 0, oneStage(us, us))
	assert.True(t, c.Cancel(a, 0))
	c.Arrive(b, 0, 0)
	g, _ := c.Next(0)
	assert.Equal(t, b, g.Program)
	c.Arrive(b, 0, 0)
	assert.False(t, c.Cancel(b, us), "units are in flight")
	assert.True(t, c.Completed(b, 2*us))
	assert.False(t, b.Busy())
	c.Arrive(b, 0, 3*us)
	g, _ = c.Next(3 * us)
	assert.Equal(t, 0, g.First, "a cancelled stage begins at its first unit")
	c.Remove(b)
	assert.Zero(t, c.flying)
	g, wake := c.Next(4 * us)
	assert.Zero(t, g.Units)
	assert.Equal(t, Never, wake)
	c.Remove(a)
	for _, p := range policies() {
		g, wake := New(p).Next(0)
		assert.Zero(t, g.Units)
		assert.Equal(t, Never, wake)
	}
}

// TestStagesWithoutUnitsEnd checks Empty.
func TestStagesWithoutUnitsEnd(t *testing.T) {
	c := New(Exclusive{})
	p := c.Add("p", 9, []Stage{{}})
	assert.False(t, c.Empty(p, 0))
	c.Arrive(p, 0, 0)
	g, _ := c.Next(0)
	assert.Zero(t, g.Units)
	assert.True(t, c.Empty(p, us))
	assert.False(t, p.Busy())
}

// TestStopped checks what is left of a stage after a grant that was stopped, and after one that was cancelled.
func TestStopped(t *testing.T) {
	c := New(NewFill(Fill{Flag: true}))
	high, low := c.Add("high", 9, oneStage(us)), c.Add("low", 0, oneStage(repeat(10, 20*us)...))
	c.Arrive(low, 0, 0)
	g, _ := c.Next(0)
	assert.Equal(t, 10, g.Units)
	assert.True(t, g.Stoppable)
	assert.False(t, c.Stopped(low, 3, 60*us))
	assert.Equal(t, Stats{Grants: 1, Units: 3, Busy: 60 * us}, low.Stats())
	c.Arrive(high, 0, 60*us)
	g, _ = c.Next(60 * us)
	assert.Equal(t, high, g.Program)
	assert.False(t, g.Stoppable)
	c.Completed(high, 61*us)
	g, _ = c.Next(61 * us)
	assert.Equal(t, 3, g.First)
	assert.Equal(t, 7, g.Units)
	assert.False(t, c.Cancel(low, 70*us))
	assert.True(t, c.Stopped(low, 2, 80*us), "it was cancelled")
	assert.False(t, low.Busy())
	c.Arrive(low, 0, 90*us)
	g, _ = c.Next(90 * us)
	assert.Zero(t, g.First)
	assert.True(t, c.Stopped(low, 10, 300*us))
}
