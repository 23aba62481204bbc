package tenancy

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/ir"
	"github.com/reprise-gpu/reprise/tracer"
)

// shop is a server on a paced device, which holds 20 instances of the tenants' program.
type shop struct {
	*Server
	device  *paced
	tenants []*Tenant
	took    [][]time.Duration // latencies, by tenant
}

func newShop(t testing.TB, tenants, limit int, round func(members int) time.Duration) *shop {
	x := &shop{device: newPaced(round), took: make([][]time.Duration, tenants)}
	x.Server = NewServer(x.device, Options{MaxMembers: limit, OnRound: func(members int) error { x.device.members = members; return nil }})
	for i := range tenants {
		tr := tracer.New(x.device, "small", tracer.Deferred)
		a, b := tr.Alloc("x", ir.F32, 64, ir.Input), tr.Alloc("y", ir.F32, 64, ir.Output)
		tr.Launch(tr.Module("add.ptx", addPTX).Kernel("add"), tracer.Linear(1, 64), b, a, a, 64)
		trace, err := tr.Finish()
		require.NoError(t, err)
		one, err := x.Add(fmt.Sprint("tenant ", i), trace)
		require.NoError(t, err)
		x.tenants = append(x.tenants, one)
	}
	t.Cleanup(func() { require.NoError(t, x.Close()) })
	return x
}

// submit makes a request. then is called at its end; it may be nil.
func (x *shop) submit(i int, at time.Duration, then func()) {
	x.Enqueue(&Request{Tenant: x.tenants[i], Arrived: at, Done: func(r *Request) {
		x.took[i] = append(x.took[i], r.Ended-r.Arrived)
		if then != nil {
			then()
		}
	}})
}

// step launches what is due and waits for something to happen, at most to a time.
func (x *shop) step(t testing.TB, until time.Duration) {
	next, err := x.Launch()
	require.NoError(t, err)
	require.NoError(t, x.Await(context.Background(), min(next, until)))
}

// visit is a request to come.
type visit struct {
	at     time.Duration
	tenant int
}

// serve runs requests that are sorted by time. launched is called after each step; it may be nil.
func (x *shop) serve(t testing.TB, list []visit, launched func()) {
	for len(list) > 0 || x.Busy() {
		for ; len(list) > 0 && list[0].at <= x.Now(); list = list[1:] {
			x.submit(list[0].tenant, list[0].at, nil)
		}
		until := never
		if len(list) > 0 {
			until = list[0].at
		}
		next, err := x.Launch()
		require.NoError(t, err)
		if launched != nil {
			launched()
		}
		require.NoError(t, x.Await(context.Background(), min(next, until)))
	}
}

// poisson returns n requests of each tenant at random times, with a rate per second.
func poisson(rng *rand.Rand, tenants, n int, rate float64) (list []visit) {
	for i := range tenants {
		at := 0.0
		for range n {
			at += rng.ExpFloat64() / rate
			list = append(list, visit{time.Duration(at * float64(time.Second)), i})
		}
	}
	slices.SortStableFunc(list, func(a, b visit) int { return cmp.Compare(a.at, b.at) })
	return list
}

// latencies returns the mean latency of all requests, and the difference between the means of two tenants, at most.
func (x *shop) latencies() (mean, spread time.Duration) {
	least, greatest, n := never, time.Duration(0), 0
	for _, all := range x.took {
		sum := total(all)
		mean, n = mean+sum, n+len(all)
		of := sum / time.Duration(len(all))
		least, greatest = min(least, of), max(greatest, of)
	}
	return mean / time.Duration(n), greatest - least
}

func total(all []time.Duration) (sum time.Duration) {
	for _, d := range all {
		sum += d
	}
	return sum
}

// waves is the time of a round: a wave of 20 instances takes 100 us.
func waves(n int) time.Duration {
	return 5*us + time.Duration((n+19)/20)*100*us + time.Duration(n)*us*2/5
}

// TestNoRequestIsOvertaken runs random arrivals. When a round begins, no request waits that has arrived before a member of
// the round, unless its tenant is a member, too.
func TestNoRequestIsOvertaken(t *testing.T) {
	for seed := range uint64(30) {
		rng := rand.New(rand.NewPCG(seed, 0))
		n, limit := 2+rng.IntN(60), 1+rng.IntN(40)
		x := newShop(t, n, limit, waves)
		list := poisson(rng, n, 30, (0.3+rng.Float64())*float64(min(n, 20))/waves(20).Seconds()/float64(n))
		for i := range list { // some at the same time
			if rng.IntN(4) == 0 {
				list[i].at = list[max(0, i-1)].at
			}
		}
		rounds := 0
		x.serve(t, list, func() {
			for _, r := range x.rounds {
				if r.launched != x.Now() {
					continue
				}
				rounds++
				last := slices.MaxFunc(r.requests, func(a, b *Request) int { return cmp.Compare(a.Arrived, b.Arrived) })
				for _, w := range x.tenants[0].cohort.waiting.list {
					require.True(t, w.Arrived >= last.Arrived || r.has(w.Tenant), "seed %d: %s waits since %v, %s since %v", seed, w.Tenant.Name, w.Arrived, last.Tenant.Name, last.Arrived)
				}
			}
		})
		require.Positive(t, rounds)
	}
}

// TestBurstsRotate has all tenants submit at the same time, again and again. A round has no room for all of them. The
// tenants that are left over change from burst to burst: the total latencies of two tenants never differ by more than the
// rounds of a burst take.
func TestBurstsRotate(t *testing.T) {
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 1))
		limit := 1 + rng.IntN(20)
		n := limit + 1 + rng.IntN(2*limit)
		x := newShop(t, n, limit, waves)
		for burst := range 40 {
			begin := x.Now()
			for i := range n {
				x.submit(i, begin, nil)
			}
			for x.Busy() {
				x.step(t, never)
			}
			sums := make([]time.Duration, n)
			for i, all := range x.took {
				sums[i] = total(all)
			}
			if burst >= 4 { // sizes of rounds are tried in the first bursts
				require.LessOrEqual(t, slices.Max(sums)-slices.Min(sums), x.Now()-begin, "%d tenants, %d in a round, burst %d: %v", n, limit, burst, sums)
			}
		}
	}
}

// TestAClosedLoopServesAllEqually has each tenant submit again when its request ends. The numbers of requests that were
// served never differ by more than one.
func TestAClosedLoopServesAllEqually(t *testing.T) {
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 2))
		n, limit := 2+rng.IntN(60), 1+rng.IntN(40)
		x := newShop(t, n, limit, waves)
		stop := false
		var again func(i int)
		again = func(i int) {
			x.submit(i, x.Now(), func() {
				if !stop {
					again(i)
				}
			})
		}
		for i := range n {
			again(i)
		}
		for range 200 {
			x.step(t, never)
			served := make([]int, n)
			for i, all := range x.took {
				served[i] = len(all)
			}
			require.LessOrEqual(t, slices.Max(served)-slices.Min(served), 1, "%d tenants, %d in a round: %v", n, limit, served)
		}
		stop = true
	}
}

// TestTenantsWithEqualArrivals expects mean latencies to be equal but for chance, which decreases with the number of
// requests, and to be near those of a server that never waits for company (160, 216 and 185 us).
func TestTenantsWithEqualArrivals(t *testing.T) {
	for _, c := range []struct {
		tenants, requests int
		load              float64
		mean              time.Duration
	}{{20, 1000, 0.1, 175 * us}, {20, 10000, 0.5, 225 * us}, {42, 4000, 0.8, 195 * us}} {
		x := newShop(t, c.tenants, 0, waves)
		rng := rand.New(rand.NewPCG(3, 4))
		x.serve(t, poisson(rng, c.tenants, c.requests, c.load/waves(c.tenants).Seconds()), nil)
		mean, spread := x.latencies()
		t.Logf("%d tenants, %d requests each, load %.1f: mean %v, spread %.1f %%", c.tenants, c.requests, c.load, mean, 100*float64(spread)/float64(mean))
		assert.Less(t, mean, c.mean, "%d tenants, load %.1f", c.tenants, c.load)
		assert.Less(t, spread, mean/20*max(1, time.Duration(4000/c.requests)), "%d tenants, load %.1f", c.tenants, c.load)
		assert.Zero(t, x.Stats().Alone, "no tenant is slow")
	}
}
