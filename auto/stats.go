package auto

import (
	"fmt"

	"github.com/reprise-gpu/reprise/internal/traced"
	"github.com/reprise-gpu/reprise/tracer"
)

// Stats counts the calls of a program by how they were run.
type Stats struct {
	Calls    int // launches, copies, fills and prefetches
	Replayed int // calls that were part of a replay; the others were submitted one by one, or are held back
	Replays  int // replays enqueued
	Updates  int // scalars set between replays
	Bodies   int // repetitions that were planned and instantiated
	Misses   int // times that calls were held back and a call that is not of the repetition followed
	// Reason explains why the latest calls were not replayed. It is empty if they were.
	Reason string
}

// StatsOf returns the counts so far of a program from New. They are zero for any other tracer.
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
