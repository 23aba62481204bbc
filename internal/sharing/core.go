package sharing

import (
	"slices"
	"time"

	"github.com/reprise-gpu/reprise/internal/timings"
)

// never is a time that is not reached.
const never = time.Duration(1<<63 - 1)

// Never is the time at which nothing is to do.
const Never = never

// Policy grants units to programs.
type Policy interface {
	Name() string
	// Form returns what a unit is.
	Form() Form
	// Next returns a grant. If it has none (Units is 0), it returns the time at which it may have one although
	// nothing arrives or ends before, or Never.
	Next(c *Core, now time.Duration) (Grant, time.Duration)
}

// Form states how the programs of a policy are cut into units, and on which streams they run.
type Form struct {
	Unit       UnitKind
	Most       time.Duration // kernels that take longer are cut by their blocks, if they can be; 0 means never
	Priorities bool          // the stream of a program has a priority by its class; all are equal otherwise
	Stops      bool          // grants may be Stoppable
}

// UnitKind is what a unit is.
type UnitKind uint8

const (
	Kernels  UnitKind = iota // an operation, or a part of one
	Segments                 // a piece of a graph
	Whole                    // a stage
)

// Grant allows a program to run its next units.
type Grant struct {
	Program *Program
	Stage   int
	First   int // of the units of the stage
	Units   int
	At      time.Duration // when it was granted
	Time    time.Duration // predicted
	// Stoppable is set if the executor ends the grant after the present unit when a stage of a greater class arrives.
	Stoppable bool
	ends      bool // the last of the stage
	cancelled bool // the stage ends with it, although units are left
}

// Core holds the programs that share a device.
type Core struct {
	policy   Policy
	programs []*Program // greater classes first
	flying   int        // grants in flight, of all programs
}

// New returns a core without programs.
func New(p Policy) *Core { return &Core{policy: p} }

// Policy returns the policy of the core.
func (c *Core) Policy() Policy { return c.policy }

// Flying returns the number of grants in flight.
func (c *Core) Flying() int { return c.flying }

// Add adds a program. It has at least one stage. A stage may have no units.
func (c *Core) Add(name string, class int, stages []Stage) *Program {
	p := &Program{Name: name, Class: class, stages: stages, last: -1}
	for i := range stages {
		p.gaps = append(p.gaps, timings.NewWindow(timings.GapWindow, stages[i].Gaps))
	}
	p.pace.reset()
	i, _ := slices.BinarySearchFunc(c.programs, p, func(q, p *Program) int {
		if q.Class >= p.Class {
			return -1
		}
		return 1
	})
	c.programs = slices.Insert(c.programs, i, p)
	return p
}

// Remove removes a program. Its units in flight are forgotten: the executor does not report their end.
func (c *Core) Remove(p *Program) {
	c.flying -= len(p.flying)
	p.flying, p.waiting = nil, nil
	c.programs = slices.DeleteFunc(c.programs, func(q *Program) bool { return q == p })
}

// Cancel forgets the stages that wait, and ends the present one behind the units in flight. It returns whether the
// program then has no work.
func (c *Core) Cancel(p *Program, now time.Duration) bool {
	if len(p.waiting) == 0 {
		return true
	}
	if len(p.flying) > 0 {
		p.waiting = p.waiting[:1]
		p.next = len(p.units())
		last := &p.flying[len(p.flying)-1]
		last.ends, last.cancelled = true, true
		return false
	}
	p.waiting = p.waiting[:0]
	p.next, p.idle = 0, now
	return true
}

// Arrive adds a stage of a program, which becomes ready when all earlier ones of the program have ended.
func (c *Core) Arrive(p *Program, stage int, now time.Duration) {
	if !p.Busy() {
		c.endGap(p, now)
		p.served, p.seen = now, c.above(p)
	}
	p.waiting = append(p.waiting, request{stage, now, c.flying > len(p.flying)})
}

// endGap notes the gap before a stage. Within a request it is part of the time of the program.
func (c *Core) endGap(p *Program, now time.Duration) {
	if p.last < 0 {
		return
	}
	gap := now - p.idle
	p.gaps[p.last].Record(gap)
	p.stats.Gaps += gap
	if p.last+1 < len(p.stages) {
		p.stats.Alone += gap
		p.pace.observe(0, gap)
	}
}

// above returns the time that the programs of greater classes have taken, without delays.
func (c *Core) above(p *Program) (sum time.Duration) {
	for _, q := range c.programs {
		if q.Class <= p.Class {
			break
		}
		sum += q.stats.Alone
	}
	return sum
}

// Next returns the next grant at a time, with a number of units that is not 0. If there is none, it returns the time at
// which to call again although nothing has arrived or ended, or Never.
func (c *Core) Next(now time.Duration) (Grant, time.Duration) {
	g, wake := c.policy.Next(c, now)
	if g.Units == 0 {
		return g, wake
	}
	p := g.Program
	g.Stage, g.First, g.At, g.Time = p.waiting[0].stage, p.next, now, 0
	for i := range g.Units {
		g.Time += p.units()[p.next+i].in(i > 0)
	}
	p.next += g.Units
	g.ends = p.next == len(p.units())
	p.end = max(p.end, now) + g.Time
	p.served, p.seen = now, c.above(p)
	p.stats.Grants++
	p.stats.Units += g.Units
	p.stats.Busy += g.Time
	p.flying = append(p.flying, g)
	c.flying++
	return g, never
}

// Completed reports that the oldest grant of a program has ended. It returns whether the stage has ended with it.
func (c *Core) Completed(p *Program, now time.Duration) (ended bool) {
	g := p.flying[0]
	p.flying = p.flying[:copy(p.flying, p.flying[1:])]
	c.flying--
	if len(p.flying) == 0 {
		p.end = now
	}
	if !g.ends {
		return false
	}
	c.endStage(p, g.Stage, now)
	return true
}

// Stopped reports that the oldest grant of a program, a Stoppable one, has ended after some of its units. It is the only
// grant in flight of the program. It returns whether the stage has ended with it.
func (c *Core) Stopped(p *Program, units int, now time.Duration) (ended bool) {
	g := &p.flying[0]
	if units < g.Units && !g.cancelled {
		for i := g.First + units; i < g.First+g.Units; i++ {
			p.stats.Busy -= p.units()[i].in(i > g.First)
		}
		p.stats.Units -= g.Units - units
		p.next, g.ends = g.First+units, false
	}
	return c.Completed(p, now)
}

// Empty ends the present stage of a program if it has no units. It returns whether it had none.
func (c *Core) Empty(p *Program, now time.Duration) bool {
	if len(p.waiting) == 0 || len(p.units()) > 0 {
		return false
	}
	c.endStage(p, p.waiting[0].stage, now)
	return true
}

// endStage removes the present stage and notes how late it ended.
func (c *Core) endStage(p *Program, stage int, now time.Duration) {
	r := p.waiting[0]
	p.waiting = p.waiting[:copy(p.waiting, p.waiting[1:])]
	p.next, p.last = 0, stage
	if len(p.waiting) == 0 {
		p.idle = now
	} else {
		p.waiting[0].arrived = max(p.waiting[0].arrived, now)
	}
	s := &p.stages[stage]
	took := now - r.arrived
	if s.Alone == 0 || !r.filled && took < s.Alone {
		s.Alone = took
	}
	late := max(0, took-s.Alone)
	p.stats.Stages++
	p.stats.Alone += s.Alone
	p.stats.Late += late
	p.stats.MaxLate = max(p.stats.MaxLate, late)
	p.pace.observe(late, s.Alone)
	if f, ok := c.policy.(follower); ok {
		f.ended(p)
	}
}

// follower is a policy that learns from the delays of stages.
type follower interface{ ended(*Program) }

// top reports whether no program has a greater class.
func (c *Core) top(p *Program) bool { return p.Class == c.programs[0].Class }

// all is a grant of the rest of the present stage.
func (p *Program) all() Grant { return Grant{Program: p, Units: p.rest()} }

// one is a grant of the next unit.
func (p *Program) one() Grant { return Grant{Program: p, Units: 1} }
