package sharing

import (
	"fmt"
	"time"

	"github.com/reprise-gpu/reprise/internal/timings"
)

// Fill runs programs in the gaps of those with greater classes, in pieces with a bound on their time.
//
// A program of the greatest class has its whole stage launched at once. Any other program is granted pieces while all
// programs above it are idle:
//
//   - A piece is the longest run of its next units that fits into the rest of the gaps of all programs above: a
//     quantile of gaps like the present one that have lasted as long, less Guard and the pieces in flight.
//   - A unit that does not fit is granted alone if its expected overrun is at most a fraction of its time, the price.
//   - It takes at most Piece, so a program above waits at most for Depth pieces and their launches.
//   - The quantile, the price, and the time of a piece below Piece follow the delay of each program above: its target is
//     Target of the time that the program takes alone.
//   - The next piece is granted when Guard is left of the one in flight, so that the device does not wait and yet seldom
//     has two.
//   - A unit that is longer than Piece is granted if the delay that it is expected to cause is within what the target allows
//     and the program above has not suffered yet.
//   - A unit is granted at any time if the programs above have taken 2/Target times its time since the last grant. So all
//     programs make progress, and that costs at most half of the target.
//
// Among the programs that may fill a gap, the greatest class is first, then the one that waits longest.
type Fill struct {
	Unit   time.Duration // of a unit, where kernels can be cut; 0 means 20 us
	Piece  time.Duration // 0 means 100 us
	Depth  int           // pieces in flight; 0 means 2
	Guard  time.Duration // from a grant to the start of the piece on the device; 0 means 10 us
	Target float64       // 0 means 0.01
	Greedy bool          // gaps last forever: pieces are granted whenever the programs above are idle
	Mean   bool          // gaps last as long as their mean, instead of a quantile that follows the delay: for comparison
	// Flag lets the device run pieces by itself, until the host sets a flag when a program above arrives. A program above then
	// waits for one unit, however long the piece. So gaps are not predicted as long as the delay is below the target. Depth is
	// 1, and Piece is the longest unit that is granted without regard to the gap; 0 means twice Unit.
	Flag bool
}

const (
	defaultUnit   = 20 * time.Microsecond
	defaultPiece  = 100 * time.Microsecond
	defaultDepth  = 2
	defaultTarget = 0.01
	defaultGuard  = 10 * time.Microsecond // a launch, and the host's wake-up before it
	// maxSaved is the delay that a program may be owed, in pieces.
	maxSaved = 10
)

// NewFill returns the policy with its defaults filled in.
func NewFill(f Fill) *Fill {
	if f.Unit == 0 {
		f.Unit = defaultUnit
	}
	if f.Flag {
		f.Depth = 1
	}
	if f.Piece == 0 && f.Flag {
		f.Piece = 2 * f.Unit
	} else if f.Piece == 0 {
		f.Piece = defaultPiece
	}
	if f.Depth == 0 {
		f.Depth = defaultDepth
	}
	if f.Target == 0 {
		f.Target = defaultTarget
	}
	if f.Guard == 0 {
		f.Guard = defaultGuard
	}
	return &f
}

// Name implements Policy.
func (f *Fill) Name() string {
	switch {
	case f.Greedy:
		return "greedy"
	case f.Flag:
		return "flag"
	case f.Mean:
		return "mean"
	case f.Target != defaultTarget:
		return fmt.Sprintf("fill:%.4g%%", 100*f.Target)
	}
	return "fill"
}

// Form implements Policy.
func (f *Fill) Form() Form {
	return Form{Unit: Segments, Most: f.Unit, Priorities: true, Stops: f.Flag}
}

// Next implements Policy.
func (f *Fill) Next(c *Core, now time.Duration) (Grant, time.Duration) {
	for _, p := range c.programs {
		if !c.top(p) {
			break
		}
		if p.ready() {
			return p.all(), never
		}
	}
	if p := f.starved(c); p != nil {
		return Grant{Program: p, Units: 1, Stoppable: f.Flag}, never
	}
	if n := c.filling(); n >= f.Depth {
		return Grant{}, never
	} else if early := c.fillEnds() - f.Guard; n > 0 && early > now {
		return Grant{}, early
	}
	return f.fill(c, now)
}

// ended implements follower.
func (f *Fill) ended(p *Program) { p.pace.follow(f.Target, maxSaved*f.Piece) }

// fill grants a piece to the first program that has one which fits.
func (f *Fill) fill(c *Core, now time.Duration) (g Grant, wake time.Duration) {
	wake = never
	var best *Program
	n := 0
	for _, p := range c.programs {
		if best != nil && p.Class < best.Class {
			break
		}
		if !p.ready() || c.top(p) || best != nil && p.served >= best.served {
			continue
		}
		units, when := f.piece(c, p, now)
		if units > 0 {
			best, n = p, units
		}
		wake = min(wake, when)
	}
	if best == nil {
		return Grant{}, wake
	}
	return Grant{Program: best, Units: n, Stoppable: f.Flag}, never
}

// piece returns the number of units of the next piece of a program, or 0 and the time at which that may change.
func (f *Fill) piece(c *Core, p *Program, now time.Duration) (units int, wake time.Duration) {
	room, most, wake := f.room(c, p, now)
	u := p.head()
	if u.Time > room && most > 0 && f.pays(c, p, u.Time, now) {
		return 1, never
	}
	if room <= 0 {
		return 0, wake
	}
	if u.Time > most {
		if u.Time > f.Piece && f.affords(c, p, u.Time+f.Guard, now) {
			return 1, never
		}
		if u.Time > f.Piece || u.Time > room {
			return 0, wake
		}
		most = u.Time // pieces that have become shorter than the units
	}
	each := never
	if f.Flag {
		each, most = most, never
	}
	n, _ := p.prefix(each, min(room, most))
	if n == 0 {
		return 0, wake
	}
	return n, never
}

// room returns the time that a piece of a program may take now: what is left of the gaps of all programs above, and the
// greatest time of a piece.
func (f *Fill) room(c *Core, p *Program, now time.Duration) (room, most, wake time.Duration) {
	room, most, wake = never, f.Piece, never
	for _, q := range c.programs {
		if q.Class <= p.Class {
			break
		}
		if q.Busy() {
			return 0, 0, never
		}
		if f.Greedy {
			continue
		}
		most = min(most, time.Duration(q.pace.piece*float64(f.Piece)))
		g := q.gap()
		if g == nil || f.Flag && !q.pace.over(f.Target) {
			continue // nothing is known but the bound, or the flag ends the piece
		}
		elapsed := now - q.idle
		room = min(room, f.left(q, elapsed)-f.Guard)
		wake = min(wake, f.grows(p, q, g, now))
	}
	if room != never {
		room -= max(0, c.fillEnds()-now)
	}
	return room, most, wake
}

// left returns how long the present gap of q, which has lasted for elapsed, is expected to last.
func (f *Fill) left(q *Program, elapsed time.Duration) time.Duration {
	if f.Mean {
		return q.gap().Mean() - elapsed
	}
	return q.gap().Left(q.pace.alpha, elapsed)
}

// grows returns when the rest of the present gap of q may suffice for the next unit of p, if it does not now. Elapsed time
// only makes it shorter, except that it excludes the gaps that were shorter than that.
func (f *Fill) grows(p, q *Program, g *timings.Window, now time.Duration) time.Duration {
	elapsed, u := now-q.idle, p.head()
	longest := g.Quantile(1)
	switch {
	case elapsed >= longest: // the rest grows with the time
		return now + max(elapsed/4, f.Guard)
	case u.Time <= f.Piece:
		return q.idle + g.Reaches(q.pace.alpha, elapsed, u.Time+f.Guard)
	case !q.pace.affords(u.Time - longest): // less than any delay in a known gap
		return q.idle + longest
	}
	return q.idle + g.After(elapsed)
}

// affords reports whether the program may run a unit of that time, although it is longer than a piece: the delay that it
// is expected to cause to each program above is within what the target allows and that program has not suffered yet.
func (f *Fill) affords(c *Core, p *Program, d, now time.Duration) bool {
	for _, q := range c.programs {
		if q.Class <= p.Class {
			break
		}
		if q.Busy() || q.pace.over(f.Target) || !f.Greedy && (q.gap() == nil || !q.pace.affords(q.overrun(d, now))) {
			return false
		}
	}
	for _, q := range c.programs {
		if q.Class <= p.Class {
			break
		}
		if !f.Greedy {
			q.pace.expected += q.overrun(d, now)
		}
	}
	return true
}

// pays reports whether the program may run a unit of that time, although it does not fit into the quantile of a gap: the delay
// that it is expected to cause to each program above is worth that much work, see pace.price.
func (f *Fill) pays(c *Core, p *Program, d, now time.Duration) bool {
	if d > f.Piece || f.Flag || f.Greedy || f.Mean {
		return false
	}
	takes := max(0, c.fillEnds()-now) + f.Guard + d
	for _, q := range c.programs {
		if q.Class <= p.Class {
			break
		}
		if q.gap() == nil || float64(q.overrun(takes, now)) > q.pace.price*float64(d) {
			return false
		}
	}
	return true
}

// overrun returns the expected time by which work that begins now outlasts the present gap.
func (p *Program) overrun(d, now time.Duration) time.Duration { return p.gap().Overrun(now-p.idle, d) }

// starved returns a program that others have kept waiting too long, nil if there is none.
func (f *Fill) starved(c *Core) *Program {
	if f.Greedy {
		return nil
	}
	for _, p := range c.programs {
		if !p.ready() || c.top(p) || len(p.flying) > 0 {
			continue
		}
		if float64(c.above(p)-p.seen)*f.Target >= 2*float64(p.head().Time) {
			return p
		}
	}
	return nil
}

// filling returns the number of grants in flight of programs that have others above them.
func (c *Core) filling() int {
	n := c.flying
	for _, p := range c.programs {
		if !c.top(p) {
			break
		}
		n -= len(p.flying)
	}
	return n
}

// fillEnds returns the predicted end of these grants.
func (c *Core) fillEnds() (end time.Duration) {
	for _, p := range c.programs {
		if !c.top(p) && len(p.flying) > 0 {
			end = max(end, p.end)
		}
	}
	return end
}

// Bound returns how long a program of the greatest class waits at most for others, if units take their predicted times.
// The second result is the longest unit beyond a piece: it is added where the program was expected to stay idle.
func (f *Fill) Bound(c *Core) (bound, oversize time.Duration) {
	for _, p := range c.programs {
		if c.top(p) {
			continue
		}
		for _, s := range p.stages {
			for _, u := range s.Units {
				if u.Time > f.Piece {
					oversize = max(oversize, u.Time)
				}
			}
		}
	}
	return time.Duration(f.Depth) * (f.Piece + f.Guard), oversize
}
