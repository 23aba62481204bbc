package ranking_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/internal/ranking"
)

// random returns plans with small whole numbers, so that ties occur.
func random(r *rand.Rand) (int, func(int) (ranking.Plan, bool)) {
	list := make([]ranking.Plan, 1+r.IntN(6))
	for i := range list {
		list[i] = ranking.Plan{Prepare: float64(r.IntN(40)), Replay: float64(1 + r.IntN(6)), Bytes: int64(r.IntN(5)), Lanes: 1 + r.IntN(3), Ties: r.IntN(3)}
	}
	return len(list), func(i int) (ranking.Plan, bool) { return list[i], true }
}

// For each number of replays, the range that contains it names a plan that takes the least time.
func TestRangesHoldTheQuickest(t *testing.T) {
	for seed := range uint64(500) {
		n, plan := random(rand.New(rand.NewPCG(seed, 1)))
		terms := ranking.Any()
		terms.Bytes = 3
		ranges := ranking.Ranges(n, plan, terms)
		for replays := 1.0; replays < 60; replays++ {
			least := math.Inf(1)
			for i := range n {
				if p, _ := plan(i); p.Bytes <= terms.Bytes {
					least = min(least, p.Total(replays))
				}
			}
			if math.IsInf(least, 1) {
				require.Empty(t, ranges)
				continue
			}
			var in ranking.Range
			for _, r := range ranges {
				if r.From <= replays {
					in = r
				}
			}
			p, _ := plan(in.Plan)
			require.Equal(t, least, p.Total(replays), "seed %d, %v replays, %v", seed, replays, ranges)
		}
	}
}

func TestBreakEvenIsTheFirstNumberThatPays(t *testing.T) {
	for seed := range uint64(500) {
		_, plan := random(rand.New(rand.NewPCG(seed, 2)))
		p, _ := plan(0)
		_, other := random(rand.New(rand.NewPCG(seed, 3)))
		q, _ := other(0)
		want := math.Inf(1)
		for n := 0.0; n < 100; n++ {
			if p.Total(n) <= q.Total(n) && p.Total(1e6) <= q.Total(1e6) {
				want = n
				break
			}
		}
		assert.Equal(t, want, p.BreakEven(&q), "%+v %+v", p, q)
	}
}

// A plan is on the frontier if each other one takes longer or has more memory, or is equal.
func TestFrontierIsNotBeaten(t *testing.T) {
	for seed := range uint64(500) {
		n, plan := random(rand.New(rand.NewPCG(seed, 4)))
		on := map[[2]float64]bool{}
		last := 0.0
		for _, i := range ranking.Frontier(n, plan) {
			p, _ := plan(i)
			require.Greater(t, p.Replay, last)
			last = p.Replay
			on[[2]float64{p.Replay, float64(p.Bytes)}] = true
		}
		for i := range n {
			p, _ := plan(i)
			beaten := false
			for j := range n {
				q, _ := plan(j)
				beaten = beaten || q.Replay <= p.Replay && q.Bytes <= p.Bytes && (q.Replay < p.Replay || q.Bytes < p.Bytes)
			}
			require.Equal(t, !beaten, on[[2]float64{p.Replay, float64(p.Bytes)}], "seed %d: %+v", seed, p)
		}
	}
}

func TestTermsExclude(t *testing.T) {
	list := []ranking.Plan{{Replay: 1, Bytes: 9, Lanes: 4}, {Replay: 2, Bytes: 5, Lanes: 2}, {Replay: 2, Bytes: 5, Lanes: 2, Ties: -1}, {Replay: 3, Bytes: 1, Lanes: 1}}
	plan := func(i int) (ranking.Plan, bool) { return list[i], i != 3 }
	choose := func(bytes int64, lanes int) int {
		terms := ranking.Any()
		terms.Bytes, terms.Lanes = bytes, lanes
		return ranking.Of(len(list), plan, terms)
	}
	assert.Equal(t, 0, choose(9, 4))
	assert.Equal(t, 2, choose(8, 4), "fewer ties")
	assert.Equal(t, 2, choose(9, 3))
	assert.Equal(t, -1, choose(4, 4), "the last takes no part")
}
