package optimizer

import (
	"github.com/reprise-gpu/reprise/internal/schedules"
	"github.com/reprise-gpu/reprise/ir"
)

// group joins consecutive operations of a lane, with no wait between them, into groups. Over
// streams, each group is launched as one small graph. A grouping is kept if the replay is predicted
// to end no later:
//
//	lane 0:  a  b  c ─┐          lane 0: [a  b  c] ─┐         3 calls instead of 5, besides
//	                  ▼     ==>                     ▼         the event and the wait
//	lane 1:  d  e     f          lane 1: [d  e]     f
//
// Launching a graph costs the host little more than launching a kernel, whatever the number of
// nodes, and an edge within a graph has a shorter gap than two operations of a stream. In return, a
// graph begins later than a kernel. The minimum size of a group is therefore searched: 2, 4, 8, and
// so on. A graph of the whole program is even cheaper to launch, except for its branches; groups
// are for programs that require streams, such as those that prefetch between operations. Each group
// is instantiated once, which takes the host about as long per node as a launch.
func group(s *ir.Schedule, opts *Options) error {
	s.Joined = nil
	if !opts.Streams {
		return nil // the whole schedule is one graph
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

// joinable joins all operations that can be joined, in groups with at least the given number of non-empty operations.
// It returns nil if there are no such groups.
func joinable(s *ir.Schedule, least int) []bool {
	records := schedules.Records(s)
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

// adjoins reports whether v can be launched in one graph with u, the operation before it on its lane.
func adjoins(s *ir.Schedule, records []bool, u, v ir.OpID) bool {
	return len(s.Waits[v]) == 0 && !records[u] && groups(s.Graph.Ops[u].Kind) && groups(s.Graph.Ops[v].Kind)
}

// groups reports whether a small graph can hold operations of the kind.
func groups(k ir.Kind) bool { return k != ir.KindPrefetch && !isControl(k) }
