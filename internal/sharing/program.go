package sharing

import (
	"time"

	"github.com/reprise-gpu/reprise/internal/timings"
)

// Bound is the resource that limits a kernel.
type Bound uint8

const (
	Unknown Bound = iota
	Compute
	Memory
)

// Unit is work that runs without interruption.
type Unit struct {
	Time  time.Duration // predicted, alone on the device
	Next  time.Duration // predicted in addition if the unit before it is in the same grant; 0 means Time
	SMs   int           // multiprocessors that its blocks fill, 0 if unknown
	Bound Bound
}

// Stage is the work between two places at which a program waits for the device, such as a graph.
type Stage struct {
	Units []Unit
	Alone time.Duration   // from submission to the end, alone on the device; 0 if unknown, then it is the least seen
	Gaps  *timings.Sketch // gaps behind the stage in earlier runs, nil if unknown
}

// Classes is the number of classes. Class 9 matters most.
const Classes = 10

// Program is one of those that share the device. It submits its stages one after another, and does other work in
// the gaps between them. After the last stage, its request has ended.
type Program struct {
	Name  string
	Class int // 0 to Classes-1
	Data  any // of the executor

	stages  []Stage
	gaps    []*timings.Window // after each stage, to the next one
	waiting []request         // submitted stages that have not ended, the first is the present one
	next    int               // the unit of the present stage that is granted next
	flying  []Grant           // granted units that have not ended, in order
	end     time.Duration
	idle    time.Duration // time since which it has no work
	last    int           // the stage that ended last, -1 before the first
	served  time.Duration // the time of its last grant, or of its arrival
	seen    time.Duration // the time of programs above at that moment
	pace    pace
	stats   Stats
}

// request is a stage that the program has submitted.
type request struct {
	stage   int
	arrived time.Duration
	filled  bool // other programs had units in flight when it arrived
}

// Stats counts what happened to a program.
type Stats struct {
	Stages  int           // ended
	Grants  int           // grants of units
	Units   int           // granted units
	Busy    time.Duration // sum of the predicted times of granted units
	Alone   time.Duration // sum over the stages: time alone on the device, and gaps within requests
	Late    time.Duration // sum over the stages: time beyond that
	MaxLate time.Duration // the greatest of a stage
	Gaps    time.Duration // sum of the gaps
}

// Stats returns the counts of a program.
func (p *Program) Stats() Stats { return p.stats }

// Busy reports whether a stage waits or runs.
func (p *Program) Busy() bool { return len(p.waiting) > 0 }

// Present returns the stage that runs or is next, if one waits.
func (p *Program) Present() (stage int, ok bool) {
	if len(p.waiting) == 0 {
		return 0, false
	}
	return p.waiting[0].stage, true
}

// ready reports whether the program has units to grant.
func (p *Program) ready() bool {
	return len(p.waiting) > 0 && p.next < len(p.units())
}

// units returns the units of the present stage.
func (p *Program) units() []Unit { return p.stages[p.waiting[0].stage].Units }

// active reports whether the program is in a request, or one has ended since less than hold.
func (p *Program) active(now, hold time.Duration) bool {
	return p.Busy() || p.last >= 0 && (p.last+1 < len(p.stages) || now < p.idle+hold)
}

// gap returns the gaps like the one that the program is in, nil if none has been seen.
func (p *Program) gap() *timings.Window {
	if p.last < 0 || p.gaps[p.last].Count() == 0 {
		return nil
	}
	return p.gaps[p.last]
}

// prefix returns how many of the next units, each of at most a time, take at most a time together, and that time.
func (p *Program) prefix(each, most time.Duration) (n int, sum time.Duration) {
	units := p.units()
	for n = p.next; n < len(units); n++ {
		t := units[n].in(n > p.next)
		if units[n].Time > each || sum+t > most {
			break
		}
		sum += t
	}
	return n - p.next, sum
}

// in returns the time of a unit that is the first of a grant, or a later one.
func (u *Unit) in(later bool) time.Duration {
	if later && u.Next > 0 {
		return u.Next
	}
	return u.Time
}

// rest returns the number of units of the present stage that are not granted.
func (p *Program) rest() int { return len(p.units()) - p.next }

// head returns the unit that is granted next.
func (p *Program) head() Unit { return p.units()[p.next] }

// Due returns the predicted end of the oldest grant in flight, or Never.
func (p *Program) Due() time.Duration {
	if len(p.flying) == 0 {
		return never
	}
	return p.flying[0].At + p.flying[0].Time
}
