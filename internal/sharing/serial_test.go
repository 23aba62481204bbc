package sharing

import (
	"math"
	"math/rand/v2"
	"slices"
	"time"
)

// serial is a device that runs one grant after another, with a host that makes no errors and takes no time. It is the
// smallest executor: tests drive policies with it.
type serial struct {
	core    *Core
	now     time.Duration
	queue   []Grant
	running bool
	until   time.Duration // the end of the running grant, which is queue[0]
	busy    map[*Program]time.Duration
	grants  int
}

// client submits the stages of a program, with the gaps between them.
type client struct {
	p        *Program
	stages   []Stage
	gap      func(stage int) time.Duration // after a stage
	requests int                           // to make; 0 for as many as there is time for
	at       time.Duration                 // of the next stage, never while one runs
	stage    int
	began    time.Duration
	took     []time.Duration // of requests
}

func newSerial(p Policy) *serial {
	return &serial{core: New(p), busy: map[*Program]time.Duration{}}
}

func (s *serial) client(name string, class int, stages []Stage, requests int, gap func(int) time.Duration) *client {
	return &client{p: s.core.Add(name, class, stages), stages: stages, gap: gap, requests: requests}
}

// run drives the clients until the first has made its requests.
func (s *serial) run(clients ...*client) {
	for len(clients[0].took) < clients[0].requests {
		for _, c := range clients {
			if c.at <= s.now && (c.requests == 0 || len(c.took) < c.requests) {
				if c.stage == 0 {
					c.began = s.now
				}
				s.core.Arrive(c.p, c.stage, s.now)
				c.at = never
			}
		}
		next := s.grant()
		for _, c := range clients {
			next = min(next, c.at)
		}
		if s.running && s.until <= next {
			s.now = s.until
			s.end(clients)
			continue
		}
		s.now = next
	}
}

// grant submits what the policy grants, and returns the time of its next decision.
func (s *serial) grant() time.Duration {
	for {
		g, wake := s.core.Next(s.now)
		if g.Units == 0 {
			if wake <= s.now {
				panic("the policy wakes in the past")
			}
			return wake
		}
		s.grants++
		i := len(s.queue)
		if s.core.policy.Form().Priorities {
			for i > 0 && (i > 1 || !s.running) && s.queue[i-1].Program.Class < g.Program.Class {
				i--
			}
		}
		s.queue = slices.Insert(s.queue, i, g)
		s.start()
	}
}

func (s *serial) start() {
	if !s.running && len(s.queue) > 0 {
		s.running, s.until = true, s.now+s.queue[0].Time
	}
}

func (s *serial) end(clients []*client) {
	g := s.queue[0]
	s.queue = slices.Delete(s.queue, 0, 1)
	s.running = false
	s.busy[g.Program] += g.Time
	if s.core.Completed(g.Program, s.now) {
		for _, c := range clients {
			if c.p == g.Program {
				c.ended(s.now)
			}
		}
	}
	s.start()
}

func (c *client) ended(now time.Duration) {
	c.at = now + c.gap(c.stage)
	if c.stage++; c.stage == len(c.stages) {
		c.took = append(c.took, now-c.began)
		c.stage = 0
	}
}

const us = time.Microsecond

// oneStage returns a stage of units.
func oneStage(times ...time.Duration) []Stage {
	s := Stage{}
	for _, t := range times {
		s.Units = append(s.Units, Unit{Time: t})
		s.Alone += t
	}
	return []Stage{s}
}

// repeat returns n times the same.
func repeat(n int, d time.Duration) []time.Duration {
	return slices.Repeat([]time.Duration{d}, n)
}

// logNormal returns gaps around a median.
func logNormal(seed uint64, median time.Duration, sigma float64) func(int) time.Duration {
	r := rand.New(rand.NewPCG(seed, 1))
	return func(int) time.Duration {
		return time.Duration(float64(median) * math.Exp(sigma*r.NormFloat64()))
	}
}

func always(d time.Duration) func(int) time.Duration { return func(int) time.Duration { return d } }

// noGuard is the guard of the serial device, which launches in no time.
const noGuard = 1
