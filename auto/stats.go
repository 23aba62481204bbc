package auto

import (
	"fmt"

	"github.com/reprise-gpu/reprise/internal/traced"
	"github.com/reprise-gpu/reprise/tracer"
)

// Stats counts what became of the calls of a program.
type Stats struct {
	Calls    int // launches, copies, fills and prefetches
	Replayed int // calls that were part of a replay; the others were submitted one by one, or are held back
	Replays  int
	Updates  int // scalars set between replays
	Bodies   int // repetitions that were made replayable
	Misses   int // times that calls were held back and a different call followed
	// Reason explains why the latest calls were not replayed; "" if they were.
	Reason string
}

// StatsOf returns the counts of a program from New so far; all zero for another tracer.
func StatsOf(t *tracer.Tracer) Stats {
	w, ok := traced.SinkOf(t).(*watcher)
	if !ok {
		return Stats{}
	}
	s := w.stats
	if s.Reason == "" && s.Replays == 0 {
		s.Reason = fmt.Sprintf("no sequence of up to %d calls has occurred twice in a row", maxPeriod)
	}
	return s
}
