package timing

import (
	"github.com/reprise-gpu/reprise/device/model"
	"github.com/reprise-gpu/reprise/internal/des"
	"github.com/reprise-gpu/reprise/internal/des/links"
	"github.com/reprise-gpu/reprise/internal/distribute"
	"github.com/reprise-gpu/reprise/internal/machine"
	"github.com/reprise-gpu/reprise/internal/ranks/launches"
)

// Simulation is a plan that runs on a machine without executing kernels. One goroutine may use it at a time.
type Simulation struct {
	plan    *distribute.Plan
	machine *machine.Machine
	demand  func(*distribute.Op) model.Demand
	ranks   []*rank
	steps   int  // that have been run
	bridged bool // the first segments of the next step have been launched
}

// rank is the host of a rank, its devices and its network port.
type rank struct {
	number        int
	first         int32 // its first device
	clock         *des.Clock
	devices       []*gpu
	links         *links.Links
	rounds        [][]segment
	bridges       []segment // by repeated round: to the next one
	unrolled      *graph
	unrolledSteps int
	joined        bool // graphs of one stream wait for those of the other
	ahead         bool // the rest of the next segment has been submitted
	streams       [launches.Streams]stream
	// ends are the latest records behind graphs of the streams, and before the latest ones before the present segment.
	ends, before  [launches.Streams]des.TaskID
	host          model.Time
	send, receive model.Time // from which on its port is free
}

// gpu is a device of a rank.
type gpu struct {
	number  int // in the rank
	profile *model.Profile
	engine  *des.Engine
}

// segment is the graphs up to an exchange.
type segment struct {
	graphs    [launches.Streams]*graph
	restLater bool
	exchange  int // -1 for none
}

// stream is a stream of the first device.
type stream struct {
	tail  des.TaskID // NoTask if there was none
	waits []des.TaskID
}

// New returns a simulation of a plan for the machine. demand returns what an operation of kind Run of a launch demands of
// its device.
func New(p *distribute.Plan, m *machine.Machine, demand func(*distribute.Op) model.Demand) *Simulation {
	s := &Simulation{plan: p, machine: m, demand: demand}
	first := int32(0)
	for i := range m.Ranks {
		s.ranks = append(s.ranks, s.newRank(i, first, &m.Ranks[i]))
		first += int32(len(m.Ranks[i].Devices))
	}
	return s
}

func (s *Simulation) newRank(number int, first int32, m *machine.Rank) *rank {
	k := &rank{number: number, first: first, clock: des.NewClock()}
	k.links = links.New(m, k.clock)
	for i, d := range m.Devices {
		g := &gpu{number: i, profile: d.Profile}
		g.engine = k.clock.Engine(d.Profile, k.start(g))
		k.devices = append(k.devices, g)
	}
	for i := range k.streams {
		k.streams[i].tail, k.ends[i], k.before[i] = des.NoTask, des.NoTask, des.NoTask
	}
	all := launches.Of(s.plan, first, len(m.Devices))
	k.joined, k.unrolledSteps, k.unrolled = all.Joined, all.UnrolledSteps, s.graph(k, &all.Unrolled)
	for _, list := range all.Rounds {
		var round []segment
		for i := range list {
			round = append(round, s.segment(k, &list[i]))
		}
		k.rounds = append(k.rounds, round)
	}
	for i := range all.Bridges {
		k.bridges = append(k.bridges, s.segment(k, &all.Bridges[i]))
	}
	return k
}

// segment instantiates the graphs of a segment.
func (s *Simulation) segment(k *rank, src *launches.Segment) segment {
	one := segment{restLater: src.RestLater, exchange: src.Exchange}
	for g := range one.graphs {
		one.graphs[g] = s.graph(k, &src.Graphs[g])
	}
	return one
}

// pending is the largest number of steps that are submitted before the hosts wait for the devices, as in internal/ranks.
const pending = 256

// Run runs a number of steps, waits for them and returns the time since the start at which the last rank has.
func (s *Simulation) Run(steps int) model.Time {
	for done := 0; done < steps; {
		n := s.submit(steps - done)
		if done+n == steps || done/pending < (done+n)/pending {
			s.wait()
		}
		done += n
	}
	last := model.Time(0)
	for _, k := range s.ranks {
		last = max(last, k.host)
	}
	return last
}

// wait waits for all work of all ranks. It costs a call for each lane of each device.
func (s *Simulation) wait() {
	for _, k := range s.ranks {
		for _, g := range k.devices {
			for l := range distribute.Lanes {
				if stream, is := k.streamOf(g, l); is {
					k.synchronize(stream)
				} else {
					k.host += g.profile.Host.Synchronize
				}
			}
		}
	}
}

// streamOf returns the stream that uses a lane of a device.
func (k *rank) streamOf(g *gpu, l distribute.Lane) (*stream, bool) {
	switch {
	case g.number > 0:
		return nil, false
	case l == distribute.Edge: // the stream of the urgent graphs
		return &k.streams[launches.Urgent], true
	case l == distribute.Compute:
		return &k.streams[launches.Rest], true
	case l == distribute.Aside:
		return &k.streams[launches.Aside], true
	}
	return nil, false
}

// submit submits one step, or those of an unrolled graph if that is at most most. It returns the number.
func (s *Simulation) submit(most int) int {
	n := s.ranks[0].unrolledSteps
	repeated := len(s.plan.Rounds) - s.plan.Repeat
	if n > 0 && most >= n && s.steps >= s.plan.Repeat && (s.steps-s.plan.Repeat)%repeated == 0 {
		for _, k := range s.ranks {
			k.launch(launches.Rest, k.unrolled)
		}
		s.steps += n
		return n
	}
	s.step(most > 1, most > 2)
	return 1
}

// step runs one step. If more follow at once, its last segments are joined with the first ones of the next step, as in
// internal/ranks. further is set if more steps also follow that one.
func (s *Simulation) step(more, further bool) {
	r := s.roundOf(s.steps)
	more = more && r >= s.plan.Repeat && len(s.ranks[0].bridges) > 0
	segments := len(s.ranks[0].rounds[r])
	for x := range segments {
		for _, k := range s.ranks {
			switch {
			case x == segments-1 && more:
				k.segment(&k.bridges[r-s.plan.Repeat], s.following(k, x, r, more, further))
			case x > 0 || !s.bridged:
				k.segment(&k.rounds[r][x], s.following(k, x, r, more, further))
			}
		}
		if e := s.ranks[0].rounds[r][x].exchange; e >= 0 {
			s.exchange(&s.plan.Rounds[r].Exchanges[e])
		}
	}
	s.bridged = more
	s.steps++
}

// roundOf returns the round of a step.
func (s *Simulation) roundOf(step int) int {
	if n := len(s.plan.Rounds); step >= n {
		return s.plan.Repeat + (step-s.plan.Repeat)%(n-s.plan.Repeat)
	}
	return step
}

// following returns the segment that follows segment i of a step of round r, as in internal/ranks.
func (s *Simulation) following(k *rank, i, r int, more, further bool) *segment {
	if i == len(k.rounds[r])-1 {
		if !more {
			return nil
		}
		i, r, more = 0, s.roundOf(s.steps+1), further
	}
	if i+1 == len(k.rounds[r])-1 && more {
		return &k.bridges[r-s.plan.Repeat]
	}
	return &k.rounds[r][i+1]
}

// segment launches the graphs of a segment, and the rest of the next one.
func (k *rank) segment(s, next *segment) {
	rest := !k.ahead || s.restLater
	if !k.ahead {
		k.before = k.ends
		k.followAll(launches.Rest, s.graphs[launches.Rest], k.ends)
	}
	k.followAll(launches.Urgent, s.graphs[launches.Urgent], k.before)
	k.launch(launches.Urgent, s.graphs[launches.Urgent])
	if rest {
		k.launchRest(s)
	}
	k.followAll(launches.Aside, s.graphs[launches.Aside], k.ends)
	k.launch(launches.Aside, s.graphs[launches.Aside])
	if k.ahead = next != nil; !k.ahead {
		return
	}
	k.before = k.ends
	k.followAll(launches.Rest, next.graphs[launches.Rest], k.ends)
	if !next.restLater {
		k.launchRest(next)
	}
}

// launchRest launches the rest of a segment.
func (k *rank) launchRest(s *segment) {
	rest := s.graphs[launches.Rest]
	if s.restLater && rest != nil {
		k.follow(launches.Rest, k.ends[launches.Urgent])
	}
	k.launch(launches.Rest, rest)
}

// synchronize makes the host wait for a stream.
func (k *rank) synchronize(s *stream) {
	last := k.host
	if s.tail != des.NoTask {
		last = max(last, k.clock.Wait(s.tail))
	}
	for _, t := range s.waits {
		last = max(last, k.clock.Wait(t))
	}
	k.host = last + k.devices[0].profile.Host.Synchronize
	k.clock.Retire()
}
