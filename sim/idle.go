package sim

// notices reports whether the program may notice a job's run without a call.
func (j *job) notices() bool { return j != nil && (j.kind == hostCall || j.kind == valueOps) }

// Noticeable reports whether work is under way that the program may notice without a call
// of a device: host calls, stores of values, and waits for values that the program stores.
func (s *System) Noticeable() bool {
	return s.time.noticeable > 0 || len(s.time.held) > 0 || len(s.time.calls) > 0
}

// Idle lets time pass for a host that makes no call: work runs, as far as there is any that
// is Noticeable, and the host's clock moves to where that was.
func (s *System) Idle() {
	t := s.time
	t.settled()
	if t.inside != nil {
		return
	}
	t.poll()
	for t.noticeable > 0 && t.clock.Step() {
		t.host = max(t.host, t.clock.Now())
		if t.standing != nil {
			t.awaitReturn(waitPatience)
			t.poll()
		}
	}
}
