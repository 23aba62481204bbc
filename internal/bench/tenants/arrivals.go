package tenants

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Arrivals are requests at given times.
type Arrivals struct {
	Rate float64 // of each tenant, per second, at random times (a Poisson process); or 0
	at   []arrival
}

// ReadArrivals reads lines "tenant,time_us": the number of a tenant, from 0, and the time of a request in microseconds
// after the start. The first line may be a heading. Empty lines are left out. name is that of the file, for errors.
func ReadArrivals(name string, r io.Reader, tenants int) (*Arrivals, error) {
	a := &Arrivals{}
	lines := bufio.NewScanner(r)
	for n := 1; lines.Scan(); n++ {
		text := strings.TrimSpace(lines.Text())
		if text == "" || n == 1 && strings.HasPrefix(text, "tenant") {
			continue
		}
		next, err := parseArrival(text, tenants)
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", name, n, err)
		}
		a.at = append(a.at, next)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if len(a.at) == 0 {
		return nil, fmt.Errorf("%s: no arrivals: write lines of a tenant and a time in us, as in 0,12.5", name)
	}
	slices.SortStableFunc(a.at, func(a, b arrival) int { return cmp.Compare(a.at, b.at) })
	return a, nil
}

// maxMicros bounds the time of an arrival, in us: a day.
const maxMicros = 86400e6

func parseArrival(text string, tenants int) (a arrival, err error) {
	tenant, at, ok := strings.Cut(text, ",")
	if !ok {
		return a, fmt.Errorf("%q: write a tenant and a time in us, as in 0,12.5", text)
	}
	if a.tenant, err = strconv.Atoi(strings.TrimSpace(tenant)); err != nil || a.tenant < 0 || a.tenant >= tenants {
		return a, fmt.Errorf("tenant %q: write a number from 0 to %d", strings.TrimSpace(tenant), tenants-1)
	}
	us, err := strconv.ParseFloat(strings.TrimSpace(at), 64)
	if err != nil || !(us >= 0 && us <= maxMicros) {
		return a, fmt.Errorf("time %q: write microseconds, from 0 to %.0f", strings.TrimSpace(at), maxMicros)
	}
	a.at = time.Duration(us * 1000)
	return a, nil
}

// list returns the requests of the first tenants, sorted by time. At a rate, each tenant has count of them. Tenant t of a
// seed has the same times, whatever the number of tenants.
func (a *Arrivals) list(tenants, count int, seed uint64) (list []arrival) {
	if a.Rate == 0 {
		return slices.DeleteFunc(slices.Clone(a.at), func(x arrival) bool { return x.tenant >= tenants })
	}
	for t := range tenants {
		random := rand.New(rand.NewPCG(seed, uint64(t)))
		at := 0.0
		for range count {
			at += random.ExpFloat64() / a.Rate
			list = append(list, arrival{t, time.Duration(at * float64(time.Second))})
		}
	}
	slices.SortStableFunc(list, func(a, b arrival) int { return cmp.Compare(a.at, b.at) })
	return list
}
