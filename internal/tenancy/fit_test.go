package tenancy

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const us = time.Microsecond

// truth is a round with waves of 20 instances.
func truth(n int) time.Duration { return 30*us + time.Duration((n+19)/20)*210*us + time.Duration(n)*us }

func TestFitFindsWaves(t *testing.T) {
	f := newFit(20)
	assert.Zero(t, f.predict(5), "nothing is known")
	for _, n := range []int{1, 7, 20, 21, 33, 40, 41, 60} {
		f.observe(n, truth(n))
	}
	for n := 1; n <= 100; n++ {
		assert.InEpsilon(t, float64(truth(n)), float64(f.predict(n)), 0.02, "%d", n)
	}
	assert.True(t, f.fills(20))
	assert.True(t, f.fills(40))
	assert.False(t, f.fills(19))
	assert.False(t, f.fills(21))
}

func TestFitWithoutWaves(t *testing.T) {
	f := newFit(0)
	f.observe(4, 50*us)
	assert.Equal(t, 50*us, f.predict(4))
	assert.Less(t, f.predict(8), 101*us)
	assert.GreaterOrEqual(t, f.predict(8), 49*us)
	f.observe(8, 90*us)
	f.observe(2, 30*us)
	assert.InEpsilon(t, float64(170*us), float64(f.predict(16)), 0.05)
	assert.False(t, f.fills(4))
}

// Predictions follow a program whose times change, and are never negative.
func TestFitFollows(t *testing.T) {
	f := newFit(3)
	for n := 1; n < 10; n++ {
		f.observe(n, time.Duration(100-10*n)*us) // shrinking: no coefficient may become negative
	}
	for n := 1; n < 100; n++ {
		assert.GreaterOrEqual(t, f.predict(n), time.Duration(0))
	}
	for range 40 {
		f.observe(5, time.Millisecond)
	}
	assert.InEpsilon(t, float64(time.Millisecond), float64(f.predict(5)), 0.01)
}

func TestDecide(t *testing.T) {
	known := newFit(20)
	for _, n := range []int{1, 7, 20, 21, 33, 40, 41, 60} {
		known.observe(n, truth(n))
	}
	now := time.Second
	base := line{requests: 5, waiting: 5, absent: 59, limit: 64, deadline: never, every: 20 * us, last: now - us, times: known}
	for name, c := range map[string]struct {
		change func(*line)
		n      int
		at     time.Duration
	}{
		"nothing waits":                          {func(l *line) { l.waiting = 0 }, 0, never},
		"one more costs little and comes soon":   {func(*line) {}, 0, now - us + 40*us},
		"the times are unknown":                  {func(l *line) { l.times = newFit(20) }, 5, now},
		"all tenants wait":                       {func(l *line) { l.absent = 0 }, 5, now},
		"most arrivals are of waiting tenants":   {func(l *line) { l.absent = 1 }, 5, now},
		"many requests would wait with them":     {func(l *line) { l.requests = 15 }, 5, now},
		"the next arrival is far":                {func(l *line) { l.every = time.Second }, 5, now},
		"the expected arrival is late":           {func(l *line) { l.last = now - 50*us }, 5, now},
		"a wave is full":                         {func(l *line) { l.waiting = 20 }, 20, now},
		"two waves and a little: two waves":      {func(l *line) { l.waiting = 42 }, 40, now},
		"the deadline allows two waves of three": {func(l *line) { l.waiting, l.deadline = 42, now+truth(41) }, 40, now},
		"the limit is reached":                   {func(l *line) { l.limit = 5 }, 5, now},
		"the deadline leaves some time":          {func(l *line) { l.deadline = now + known.predict(5) + guard + 10*us }, 0, now + 10*us},
		"the deadline leaves none":               {func(l *line) { l.deadline = now + known.predict(5) + guard }, 5, now},
		"the deadline leaves time for fewer":     {func(l *line) { l.waiting, l.deadline = 25, now+truth(20)+40*us }, 20, now},
		"a deadline that is missed in any case":  {func(l *line) { l.deadline = now + us }, 1, now},
		"arrivals were never seen: do not wait":  {func(l *line) { l.every = 0 }, 5, now},
	} {
		l := base
		c.change(&l)
		n, at := decide(&l, now)
		assert.Equal(t, c.n, n, name)
		assert.InDelta(t, float64(c.at), float64(at), float64(6*us), name)
	}
}

// The search finds the tenant whose rounds are slow, whichever it is, and nobody if rounds are slow at random.
// rounds20 runs rounds of all tenants as the server makes them, those that must be apart in different ones, until a tenant
// is found to be slow. It returns the number of times that every tenant had a round, at most a number.
func (s *straggler) rounds20(all []*Tenant, slow func(round []*Tenant) bool) (found *Tenant, turns int) {
	for ; found == nil && turns < 20; turns++ {
		for left := all; len(left) > 0 && found == nil; {
			var round, rest []*Tenant
			for _, m := range left {
				if slices.ContainsFunc(round, func(o *Tenant) bool { return s.separate(o, m) }) {
					rest = append(rest, m)
				} else {
					round = append(round, m)
				}
			}
			found, _ = s.observe(all, round, slow(round))
			left = rest
		}
	}
	return found, turns
}

func tenantsOf(n int) (all []*Tenant) {
	for range n {
		all = append(all, &Tenant{})
	}
	return all
}

func TestTheSlowMemberIsFound(t *testing.T) {
	for members := 2; members <= 20; members++ {
		for slow := range members {
			all := tenantsOf(members)
			var s straggler
			found, turns := s.rounds20(all, func(round []*Tenant) bool { return slices.Contains(round, all[slow]) })
			require.Same(t, all[slow], found, "%d of %d", slow, members)
			assert.LessOrEqual(t, turns, slowRounds+5+1, "%d members", members)
		}
	}
}

// TestOneOfTwoSlowMembersIsFound has two tenants become slow at the same time.
func TestOneOfTwoSlowMembersIsFound(t *testing.T) {
	for members := 3; members <= 12; members++ {
		for a := range members {
			for b := range a {
				all := tenantsOf(members)
				var s straggler
				found, _ := s.rounds20(all, func(round []*Tenant) bool { return slices.Contains(round, all[a]) || slices.Contains(round, all[b]) })
				require.Contains(t, []*Tenant{all[a], all[b]}, found, "%d and %d of %d", a, b, members)
			}
		}
	}
}

// TestASlowDeviceAccusesNobody has all rounds be slow, or all of the first ones.
func TestASlowDeviceAccusesNobody(t *testing.T) {
	for members := 1; members <= 20; members++ {
		for until := range 40 {
			var s straggler
			rounds := 0
			found, _ := s.rounds20(tenantsOf(members), func([]*Tenant) bool { rounds++; return rounds <= until || until == 39 })
			require.Nil(t, found, "%d members, %d slow rounds", members, until)
		}
	}
}

func TestQuickRoundsAccuseNobody(t *testing.T) {
	a, b := &Tenant{}, &Tenant{}
	var s straggler
	for range 10 {
		for _, slow := range []bool{true, false} {
			found, ended := s.observe([]*Tenant{a, b}, []*Tenant{a, b}, slow)
			assert.Nil(t, found)
			assert.False(t, ended)
		}
	}
	assert.Nil(t, s.apart)
}
