package tenants

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
)

// Tenants with equal arrivals have unequal mean latencies, because each has few requests. chance estimates that part of
// the spread by shuffling: the requests are divided by their arrival into intervals, and in each interval the tenants are
// permuted. The spread of the shuffled latencies is that of tenants that differ by chance alone. No model of the latencies
// is needed, but intervals must be long, since a tenant whose requests wait for each other has many long latencies in a row
// (batch means). A real difference between tenants is in the result with a share of about one over the root of the number
// of intervals.

const (
	shuffles = 200
	// minIntervals is the least number of intervals for which chance returns a result.
	minIntervals = 3
	// maxIntervals bounds their number. Near saturation, where a tenant's latencies depend on each other for longest, 8
	// intervals gave the mean spread of equal tenants within 6 %, and the root of 1000 requests 23 % less.
	maxIntervals = 8
)

// chance returns the mean spread of shuffled requests, or NaN if there are too few.
func chance(all []*request) float64 {
	ran := slices.DeleteFunc(slices.Clone(all), func(r *request) bool { return r.refused })
	sums := sumsByInterval(ran)
	if len(sums) < minIntervals {
		return math.NaN()
	}
	random := rand.New(rand.NewPCG(1, 2))
	sum := 0.0
	for range shuffles {
		for _, tenants := range sums {
			random.Shuffle(len(tenants), func(i, j int) { tenants[i], tenants[j] = tenants[j], tenants[i] })
		}
		sum += spread(total(sums))
	}
	return sum / shuffles
}

// latencySum is the sum of some latencies, in us, and their number.
type latencySum struct {
	us float64
	n  int
}

// sumsByInterval returns the latencies by interval and tenant.
func sumsByInterval(all []*request) [][]latencySum {
	tenants := 0
	for _, r := range all {
		tenants = max(tenants, r.tenant+1)
	}
	if tenants == 0 {
		return nil
	}
	all = slices.Clone(all)
	slices.SortStableFunc(all, func(a, b *request) int { return cmp.Compare(a.arrived, b.arrived) })
	sums := make([][]latencySum, min(maxIntervals, int(math.Sqrt(float64(len(all)/tenants)))))
	for i := range sums {
		sums[i] = make([]latencySum, tenants)
		for _, r := range all[i*len(all)/len(sums) : (i+1)*len(all)/len(sums)] {
			s := &sums[i][r.tenant]
			s.us, s.n = s.us+micros(r.ended-r.arrived), s.n+1
		}
	}
	return sums
}

// total returns the latencies by tenant.
func total(sums [][]latencySum) []latencySum {
	all := make([]latencySum, len(sums[0]))
	for _, tenants := range sums {
		for t, s := range tenants {
			all[t].us, all[t].n = all[t].us+s.us, all[t].n+s.n
		}
	}
	return all
}

// spread returns the difference between the greatest and the least mean of a tenant, over the mean of all.
func spread(tenants []latencySum) float64 {
	least, greatest := math.Inf(1), 0.0
	var all latencySum
	for _, s := range tenants {
		if s.n == 0 {
			continue
		}
		mean := s.us / float64(s.n)
		least, greatest = min(least, mean), max(greatest, mean)
		all.us, all.n = all.us+s.us, all.n+s.n
	}
	if all.us == 0 {
		return 0
	}
	return (greatest - least) / (all.us / float64(all.n))
}
