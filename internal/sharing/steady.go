package sharing

import "time"

// Steady returns the time until which the decisions of the policy stay the same if no stage arrives, however much time
// passes: what it grants depends only on the units that wait and that are in flight. It is now if that is not known.
// Executors in virtual time may leave out repetitions until then.
func (c *Core) Steady(now time.Duration) time.Duration {
	if p, ok := c.policy.(steadier); ok {
		return p.steady(c, now)
	}
	return now
}

// steadier is a policy whose decisions may be steady.
type steadier interface {
	steady(c *Core, now time.Duration) time.Duration
}

func (Exclusive) steady(*Core, time.Duration) time.Duration { return never }

func (*Streams) steady(*Core, time.Duration) time.Duration { return never }

// steady: others run freely when no program of a greater class is active.
func (f *Fikit) steady(c *Core, now time.Duration) time.Duration {
	for _, p := range c.programs {
		if p.Class != c.programs[len(c.programs)-1].Class && p.active(now, f.Hold) {
			return now
		}
	}
	return never
}

func (t *Tally) steady(c *Core, now time.Duration) time.Duration {
	if first := c.programs[0]; first.last >= 0 && now < first.idle+t.Idle {
		return now
	}
	return never
}

// steady: while nothing arrives, decisions change when the rest of a gap is shorter than what may be in flight, and when
// the gap becomes longer than a known one. A unit that is longer than a piece costs nothing if no known gap ends in it.
func (f *Fill) steady(c *Core, now time.Duration) time.Duration {
	switch {
	case f.Greedy:
		return never
	case f.Flag:
		return now
	}
	until, low := never, c.programs[len(c.programs)-1]
	_, oversize := f.Bound(c)
	for _, q := range c.programs {
		if q.Class == low.Class {
			break
		}
		g := q.gap()
		if q.Busy() || g == nil {
			return now
		}
		elapsed := now - q.idle
		next := g.After(elapsed)
		if next == never && oversize > 0 {
			return now
		}
		flying := time.Duration(f.Depth+1)*f.Piece + f.Guard
		left := f.left(q, elapsed)
		if left < flying {
			return now
		}
		if next != never {
			until = min(until, now+left-flying, q.idle+next-oversize-f.Guard)
		}
	}
	return max(now, until)
}
