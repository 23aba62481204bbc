//go:build cuda && cgo

package cuda

import "gorgonia.org/cu"

// scratch holds steps of one command each, for calls that enqueue a single command.
type scratch struct {
	work, record, wait []step // of one step
	waits              []waitedFor
}

func newScratch() scratch {
	return scratch{work: newSteps(1), record: newSteps(1), wait: newSteps(1), waits: newWaits(1)}
}

func (s *scratch) free() {
	freeSteps(s.work)
	freeSteps(s.record)
	freeSteps(s.wait)
	freeWaits(s.waits)
}

// one returns the step for a single work, which lower sets.
func (s *scratch) one() *step { return &s.work[0] }

func (s *scratch) recordOf(e cu.Event, stream cu.Stream) []step {
	s.record[0].mark(e)
	s.record[0].on(stream, 1)
	return s.record
}

func (s *scratch) waitFor(e cu.Event, stream cu.Stream) []step {
	s.waits[0] = waitFor(e)
	s.wait[0].await(s.waits)
	s.wait[0].on(stream, 1)
	return s.wait
}
