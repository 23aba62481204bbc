package sim

// notices reports whether the program can notice the execution of a job without a call.
func (j *job) notices() bool { return j != nil && (j.kind == hostCall || j.kind == valueOps) }

// Noticeable reports whether work is in progress whose effects the program can notice without a call: host calls,
// stores of values, and waits for values that the program stores.
func (s *System) Noticeable() bool {
	return s.time.noticeable > 0 || len(s.time.held) > 0 || len(s.time.calls) > 0
}

// Noticed returns how many host calls, stores of values and waits for values have started so far.
func (s *System) Noticed() uint64 { return s.time.noticed }

// Visible reports whether work is in progress whose stores the program may see without a call. That is any work if
// the host shares memory with a device.
func (s *System) Visible() bool { return s.time.clock.Live() > 0 && s.space.HostSees() }

// Idle advances virtual time for a host that makes no call: it runs work as long as any is Noticeable, and moves the
// host's clock along.
func (s *System) Idle() { s.time.run(func() bool { return s.time.noticeable > 0 }) }

// Finish is Idle for all work.
func (s *System) Finish() { s.time.run(func() bool { return s.time.clock.Live() > 0 }) }

// run advances virtual time while more returns true and an event is left.
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
