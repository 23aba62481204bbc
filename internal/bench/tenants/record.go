package tenants

import (
	"cmp"
	"math"
	"slices"
	"time"
)

// Record is the result of one mode with one number of tenants. It is the format of --json.
type Record struct {
	Program string `json:"program"`
	Device  string `json:"device"`
	Tenants int    `json:"tenants"` // 1 in mode exclusive
	Mode    string `json:"mode"`
	// GFlops is the rate of floating-point operations in rounds, 1e9 per second; 0 if they are not counted.
	GFlops float64 `json:"gflops"`
	// USPerRound is the time in which every tenant runs once: all submit together, and the round ends with the last.
	USPerRound float64 `json:"us_per_round"`
	// The latencies are percentiles of the requests that ran, from their arrival to their end.
	P50US float64 `json:"p50_us"`
	P99US float64 `json:"p99_us"`
	// Goodput is the number of requests per second that ended by their deadline.
	Goodput float64 `json:"goodput"`
	// Spread is the difference between the greatest and the least mean latency of a tenant, over the mean of all.
	Spread float64 `json:"spread"`
	// OK reports whether the results of all tenants were right, in the first and the last round. It is nil if nothing
	// was compared, because the device ran only some blocks of each launch.
	OK *bool `json:"ok"`

	// Chance is the spread that tenants have by chance, as they have few requests. It is NaN if that cannot be estimated.
	Chance    float64   `json:"-"`
	Error     string    `json:"-"` // why OK is false
	Latencies []float64 `json:"-"` // in us, ascending
}

// latencies sets what follows from the requests.
func (r *Record) latencies(all []*request) {
	if len(all) == 0 {
		return
	}
	met, first, last := 0, all[0].arrived, all[0].ended
	var sums []latencySum // by tenant
	for _, q := range all {
		first, last = min(first, q.arrived), max(last, q.ended)
		if q.refused {
			continue
		}
		if q.ended <= q.deadline {
			met++
		}
		took := micros(q.ended - q.arrived)
		r.Latencies = append(r.Latencies, took)
		for len(sums) <= q.tenant {
			sums = append(sums, latencySum{})
		}
		s := &sums[q.tenant]
		s.us, s.n = s.us+took, s.n+1
	}
	slices.Sort(r.Latencies)
	r.P50US, r.P99US = percentile(r.Latencies, 50), percentile(r.Latencies, 99)
	if last > first {
		r.Goodput = float64(met) / (last - first).Seconds()
	}
	r.Spread, r.Chance = spread(sums), chance(all)
}

// percentile returns the least value that p percent of the sorted values do not exceed.
func percentile(sorted []float64, p float64) float64 {
	if len(sorted) == 0 {
		return 0
	}
	i := int(math.Ceil(p / 100 * float64(len(sorted))))
	return sorted[min(max(i-1, 0), len(sorted)-1)]
}

func micros(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1000 }

// Compare orders records by mode and then by the number of tenants.
func Compare(a, b Record) int {
	order := func(mode string) int {
		return slices.Index(modeNames[:], mode)
	}
	return cmp.Or(cmp.Compare(order(a.Mode), order(b.Mode)), cmp.Compare(a.Tenants, b.Tenants))
}
