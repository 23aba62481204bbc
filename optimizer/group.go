package optimizer

import (
	"github.com/reprise-gpu/reprise/ir"
)

// group joins operations that follow one another on a lane, with no wait between them, into
// groups which streams launch as one small graph each, where the replay is predicted to end no
// later:
//
//	lane 0:  a  b  c ─┐          lane 0: [a  b  c] ─┐         3 calls instead of 5, besides
//	                  ▼     ==>                     ▼         the event and the wait
//	lane 1:  d  e     f          lane 1: [d  e]     f
//
// A launch of a graph costs the host little more than one of a kernel, whatever the number of its
// nodes, and an edge within takes the device less than the next operation of a stream; what
// it costs is that the graph begins later than a kernel would. So how many operations pay for
// that is tried: two and more, four and more, and so on. A graph of the whole program costs even
// less to launch, but for its branches; groups are for what has to be streams, such as a program that
// prefetches between its operations. Each group is instantiated once, which takes the host about
// as long for a node as for a launch.
func group(s *ir.Schedule, opts *Options) error {
	s.Joined = nil
	if !opts.Streams {
		return nil // all of it is one graph
	}
	f, err := opts.forecast(s.Graph)
	if err != nil {
		return err
	}
	best := f.makespan(s)
	var chosen []bool
	for least := 2; ; least *= 2 {
		s.Joined = joinable(s, least)
		if s.Joined == nil {
			break
		}
		if took := f.makespan(s); took < best || took == best && chosen == nil {
			best, chosen = took, s.Joined
		}
	}
	s.Joined = chosen
	return nil
}

// joinable joins all that can be, in groups of so many operations that run something or more;
// nil if there are none.
func joinable(s *ir.Schedule, least int) []bool {
	records := s.Records()
	joined, any := make([]bool, s.Graph.Len()), false
	for _, lane := range byLane(s) {
		for at := 0; at < len(lane); {
			end, runs := at, 0
			for {
				if op := &s.Graph.Ops[lane[end]]; !nothing(op) || op.Cost > 0 {
					runs++
				}
				if end++; end == len(lane) || !adjoins(s, records, lane[end-1], lane[end]) {
					break
				}
			}
			for _, v := range lane[at+1 : end] {
				joined[v] = runs >= least
				any = any || joined[v]
			}
			at = end
		}
	}
	if !any {
		return nil
	}
	return joined
}

// adjoins reports whether v can be launched with u, the operation before it on its lane.
func adjoins(s *ir.Schedule, records []bool, u, v ir.OpID) bool {
	return len(s.Waits[v]) == 0 && !records[u] && s.Graph.Ops[u].Kind != ir.KindPrefetch && s.Graph.Ops[v].Kind != ir.KindPrefetch
}
