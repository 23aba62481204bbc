package tenancy

import (
	"math"
	"slices"
	"time"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/signature"
)

// cohort is the set of tenants with equal programs.
type cohort struct {
	number    int
	signature signature.Hash
	template  *template
	stream    device.Stream
	members   []*Tenant
	waiting   queue
	times     *fit
	search    straggler
	over      leftovers
	supers    []*super      // by size, ascending
	flying    int           // rounds with super-graphs in flight
	slow      int           // slow rounds in a row
	ended     time.Duration // end of the last round, until the next launch; else 0
	turn      float64       // mean time from the end of a round to the next launch in ns, if requests waited; 0 if unknown
	every     float64       // mean time between arrivals in ns, 0 if unknown
	last      time.Duration
	arrivals  int
}

// sizeOf returns the size of the super-graph for a number of instances: the next power of two, or the next multiple of
// the instances that fill a wave, if that is closer.
func (c *cohort) sizeOf(n, limit int) int {
	size := 1
	for size < n {
		size *= 2
	}
	if p := int(c.times.period); p > 1 && float64(p) == c.times.period {
		size = min(size, (n+p-1)/p*p)
	}
	return max(n, min(size, limit))
}

// arrive updates the mean time between arrivals: an exponential mean over some ten arrivals.
func (c *cohort) arrive(now time.Duration) {
	const keep = 0.9
	if c.arrivals > 0 {
		gap := float64(now - c.last)
		if c.arrivals == 1 {
			c.every = gap
		} else {
			c.every = keep*c.every + (1-keep)*gap
		}
	}
	c.arrivals++
	c.last = now
}

// turns updates the mean time from the end of a round to the next launch. The device is free for the cohort.
func (c *cohort) turns(now time.Duration) {
	if first := c.waiting.first(); c.ended > 0 && first != nil && first.Arrived <= c.ended {
		took := max(0, float64(now-c.ended))
		if c.turn == 0 {
			c.turn = took
		}
		c.turn = keep*c.turn + (1-keep)*took
	}
	c.ended = 0
}

// missed returns the mean number of rounds that a member has missed, with which a new one begins.
func (c *cohort) missed() (mean int) {
	for _, t := range c.members {
		mean += t.missed
	}
	return mean / max(1, len(c.members))
}

// line returns what decide needs. A round has each member at most once, except those that run alone.
func (c *cohort) line(limit int) line {
	batched := 0
	for _, t := range c.members {
		if !t.Alone() {
			batched++
		}
	}
	limit = min(limit, max(1, batched))
	l := line{
		requests: c.waiting.len(), waiting: c.waiting.tenants(max(limit+1, batched)), limit: limit, deadline: never,
		every: time.Duration(c.every), last: c.last, times: c.times, turn: time.Duration(c.turn), together: c.over.together(), credit: c.over.credit,
	}
	l.absent = max(0, batched-l.waiting)
	if r := c.waiting.first(); r != nil {
		l.deadline = r.Deadline
	}
	return l
}

// period returns the number of instances whose blocks fill the device once, for the kernel with the most blocks. It is
// 0 if one instance fills the device.
func (t *template) period(multiprocessors int, occupancy func(*node) int) float64 {
	most := 0.0
	for i := range t.nodes {
		n := &t.nodes[i]
		if n.launch == nil {
			continue
		}
		slots := float64(multiprocessors * max(1, occupancy(n)))
		most = max(most, float64(n.launch.Grid.Count())/slots)
	}
	if most <= 0 || most > 1 {
		return 0
	}
	return math.Floor(1/most + 1e-9)
}

// super returns the super-graph of a size, and builds it if the cache has none. first is a member of the round.
func (s *Server) super(c *cohort, size int, first *Tenant) (*super, error) {
	s.uses++
	at, found := slices.BinarySearchFunc(c.supers, size, func(g *super, size int) int { return g.size - size })
	if found {
		s.stats.Hits++
		c.supers[at].used = s.uses
		return c.supers[at], nil
	}
	s.stats.Misses++
	g, err := newSuper(s.dev, c.template, size, first)
	if err != nil {
		return nil, err
	}
	g.used = s.uses
	c.supers = slices.Insert(c.supers, at, g)
	s.cached += g.bytes
	return g, s.evict(g)
}

// evict removes the super-graphs that were not used for longest until the rest fits into the bound of the cache. The
// graph keep stays, and so do those of rounds in flight.
func (s *Server) evict(keep *super) error {
	for s.cached > s.options.CacheBytes {
		var oldest *super
		var of *cohort
		for _, c := range s.cohorts {
			for _, g := range c.supers {
				if g != keep && !s.flies(g) && (oldest == nil || g.used < oldest.used) {
					oldest, of = g, c
				}
			}
		}
		if oldest == nil {
			return nil
		}
		of.supers = slices.DeleteFunc(of.supers, func(g *super) bool { return g == oldest })
		s.cached -= oldest.bytes
		s.stats.Dropped++
		if err := oldest.close(s.dev); err != nil {
			return err
		}
	}
	return nil
}

func (s *Server) flies(g *super) bool {
	return slices.ContainsFunc(s.rounds, func(r *round) bool { return r.super == g })
}
