package sim

// notices reports whether the program may notice a job's run without a call.
func (j *job) notices() bool { return j != nil && (j.kind == hostCall || j.kind == valueOps) }

// Noticeable reports whether work is under way that the program notices without a call
// of a device: host calls, stores of values, and waits for values that the program stores.
func (s *System) Noticeable() bool {
	return s.time.noticeable > 0 || len(s.time.held) > 0 || len(s.time.calls) > 0
}

// Noticed is how many host calls, stores of values and waits for values have begun so far.
func (s *System) Noticed() uint64 { return s.time.noticed }

// Visible reports whether work is under way whose stores the program may see without a call: any work, where the host has
// memory in common with a device.
func (s *System) Visible() bool { return s.time.clock.Live() > 0 && s.space.HostSees() }

// Idle lets time pass for a host that makes no call: work runs, as far as there is any that
// is Noticeable, and the host's clock moves to where that was.
func (s *System) Idle() { s.time.run(func() bool { return s.time.noticeable > 0 }) }

// Finish is Idle for all work.
func (s *System) Finish() { s.time.run(func() bool { return s.time.clock.Live() > 0 }) }

// run lets time pass while more holds and something can happen.
func (t *sharedTime) run(more func() bool) {
	t.settled()
	if t.inside != nil {
		return
	}
	t.poll()
	for more() && t.clock.Step() {
		t.host = max(t.host, t.clock.Now())
		if t.standing != nil {
			t.awaitReturn(waitPatience)
			t.poll()
		}
	}
}
