package tenancy

import "slices"

// straggler finds a member that makes the rounds of its cohort slow. A round ends for all members at once, so its time
// does not show which of them is slow. The search halves the suspects:
//
//	slow round of a b c d e f   suspects a b c d e f
//	round a b c, round d e f                the second is slow: suspects d e f
//	round d, round e f, round a b c         the first is slow: d is left
//
// A round is slow if it takes more than slowFactor of the time predicted for its number of instances. Before the search
// begins, slowRounds rounds in a row must be slow, with a member in common. It takes log2 of the number of members more
// rounds.
//
// If the device is slow for another reason, the search ends with a member as well. Therefore the last suspect must be
// slow without the others, after a round without it was quick: if the device becomes quick again, rounds are slow first.
// Until the search has shown this, the last suspect and two halves of all others get rounds of their own: other members may
// be slow, too.
type straggler struct {
	rounds   int       // slow rounds in a row with a common member; then rounds of the search
	suspects []*Tenant // the members in common
	apart    []*Tenant // the half of the suspects, or of the others of the last one, that has a round of its own; nil before the search
	quick    bool      // a round without suspects was quick
	seen     bool      // after that, a round with all suspects and none of the former ones was slow
	slow     [2]bool   // the others of the last suspect, in apart or not, were slow or are none
}

const (
	slowFactor = 1.25
	slowRounds = 3
	// maxSearch is the number of rounds after which a search is given up, because members no longer submit.
	maxSearch = 64
	// aloneRounds is the number of rounds that a straggler runs alone before it is tried again. It doubles each time.
	aloneRounds = 64
)

// observe records a round of a cohort and returns a tenant that is certain to be slow, or nil. ended reports whether a
// search has ended with this round.
func (s *straggler) observe(cohort, members []*Tenant, slow bool) (found *Tenant, ended bool) {
	searched := s.apart != nil
	switch {
	case s.apart != nil:
		s.search(cohort, members, slow)
	case slow:
		s.suspect(cohort, members)
	default:
		*s = straggler{}
	}
	if len(s.suspects) == 1 && s.seen {
		found = s.suspects[0]
	}
	if found != nil || s.slow == [2]bool{true, true} {
		*s = straggler{}
	}
	return found, searched && s.apart == nil
}

// suspect takes a slow round before the search into account.
func (s *straggler) suspect(cohort, members []*Tenant) {
	common := members
	if s.rounds > 0 {
		common = slices.DeleteFunc(slices.Clone(members), func(t *Tenant) bool { return !slices.Contains(s.suspects, t) })
	}
	if len(common) == 0 { // one slow member after another: begin again
		s.rounds, common = 0, members
	}
	s.rounds, s.suspects = s.rounds+1, slices.Clone(common)
	if s.rounds == slowRounds {
		s.rounds = 0
		s.halve(cohort)
	}
}

// search takes a round during the search into account.
func (s *straggler) search(cohort, members []*Tenant, slow bool) {
	if s.rounds++; s.rounds > maxSearch {
		*s = straggler{}
		return
	}
	inside := slices.DeleteFunc(slices.Clone(members), func(t *Tenant) bool { return !slices.Contains(s.suspects, t) })
	switch {
	case len(inside) == 0:
		s.withoutSuspects(members, slow)
	case len(inside) == len(s.suspects):
		if s.seen = slow && s.quick; !slow && len(inside) == 1 {
			*s = straggler{}
		}
	case slow:
		s.suspects, s.seen = inside, s.quick
		s.halve(cohort)
	default:
		s.suspects = slices.DeleteFunc(s.suspects, func(t *Tenant) bool { return slices.Contains(inside, t) })
		s.seen, s.quick = false, true
		s.halve(cohort)
	}
}

// withoutSuspects takes a round without suspects into account.
func (s *straggler) withoutSuspects(members []*Tenant, slow bool) {
	switch {
	case !slow:
		s.quick = true
	case len(s.suspects) == 1:
		s.slow[half(s.apart, members[0])] = true
	}
}

// halve divides the suspects, or the others of the last one.
func (s *straggler) halve(cohort []*Tenant) {
	divided := s.suspects
	if len(s.suspects) == 1 {
		divided = slices.DeleteFunc(slices.Clone(cohort), func(t *Tenant) bool { return t == s.suspects[0] })
		s.slow = [2]bool{len(divided) < 1, len(divided) < 2}
	}
	s.apart = divided[:(len(divided)+1)/2]
}

// half returns 0 for a tenant in the list, and else 1.
func half(list []*Tenant, t *Tenant) int {
	if slices.Contains(list, t) {
		return 0
	}
	return 1
}

// separate reports whether two tenants must not be in one round, because the search for a straggler compares them.
func (s *straggler) separate(a, b *Tenant) bool { return s.apart != nil && s.group(a) != s.group(b) }

// group returns the number of the group of a tenant during the search. Each has rounds of its own.
func (s *straggler) group(t *Tenant) int {
	switch suspect := slices.Contains(s.suspects, t); {
	case len(s.suspects) == 1 && suspect:
		return 2
	case len(s.suspects) == 1 || suspect:
		return half(s.apart, t)
	default:
		return 2
	}
}
