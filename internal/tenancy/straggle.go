package tenancy

import "slices"

// straggler finds a member that makes the rounds of its cohort slow. A round ends for all members at once, so its time
// does not show which of them is slow. The search halves the suspects:
//
//	slow round of a b c d e f   suspects a b c d e f
//	round a b c, round d e f    the second is slow: suspects d e f
//	round d,     round e f      the first is slow: d is the one
//
// A round is slow if it takes more than slowFactor of the time predicted for its number of instances. Before the search
// begins, slowRounds rounds in a row must be slow, with a member in common. It takes log2 of the number of members more
// rounds.
type straggler struct {
	rounds   int       // slow rounds in a row with a common member
	suspects []*Tenant // the members in common
	apart    []*Tenant // the half of the suspects that has a round of its own; nil before the search
}

const (
	slowFactor = 1.25
	slowRounds = 3
	// aloneRounds is the number of rounds that a straggler runs alone before it is tried again. It doubles each time.
	aloneRounds = 64
)

// observe records a round and returns a tenant that is certain to be slow, or nil.
func (s *straggler) observe(members []*Tenant, slow bool) *Tenant {
	if s.apart != nil {
		return s.split(members, slow)
	}
	if !slow {
		s.rounds, s.suspects = 0, nil
		return nil
	}
	common := members
	if s.rounds > 0 {
		common = slices.DeleteFunc(slices.Clone(members), func(t *Tenant) bool { return !slices.Contains(s.suspects, t) })
	}
	if len(common) == 0 { // one slow member after another: begin again
		s.rounds, common = 0, members
	}
	s.rounds, s.suspects = s.rounds+1, slices.Clone(common)
	if s.rounds < slowRounds {
		return nil
	}
	return s.halve()
}

// split takes a round during the search into account. Only rounds with suspects count.
func (s *straggler) split(members []*Tenant, slow bool) *Tenant {
	in := func(list []*Tenant) func(*Tenant) bool {
		return func(t *Tenant) bool { return slices.Contains(list, t) }
	}
	inside := slices.DeleteFunc(slices.Clone(s.suspects), func(t *Tenant) bool { return !in(members)(t) })
	switch {
	case len(inside) == 0 || len(inside) == len(s.suspects):
		return nil
	case slow:
		s.suspects = inside
	default:
		s.suspects = slices.DeleteFunc(s.suspects, in(inside))
	}
	return s.halve()
}

// halve divides the suspects, or returns the last one.
func (s *straggler) halve() *Tenant {
	if len(s.suspects) <= 1 {
		var found *Tenant
		if len(s.suspects) == 1 {
			found = s.suspects[0]
		}
		*s = straggler{}
		return found
	}
	s.apart = s.suspects[:(len(s.suspects)+1)/2]
	return nil
}

// separate reports whether two tenants must not be in one round, because the search for a straggler compares them.
func (s *straggler) separate(a, b *Tenant) bool {
	return s.apart != nil && slices.Contains(s.suspects, a) && slices.Contains(s.suspects, b) &&
		slices.Contains(s.apart, a) != slices.Contains(s.apart, b)
}
