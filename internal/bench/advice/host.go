package advice

import "time"

// HostTime is the host time of a step that was repeated. Other work of the host only adds to it, so Least is the best estimate.
type HostTime struct{ Least, Most time.Duration }

// Bounds on the repetitions of a step.
const (
	repeated   = 5
	repeatedIn = 50 * time.Millisecond
)

// Time runs a step once, and up to five times within 50 ms. now returns the host's clock.
func Time(now func() time.Time, step func() error) (t HostTime, err error) {
	all := time.Duration(0)
	for n := 0; n == 0 || n < repeated && all < repeatedIn; n++ {
		start := now()
		if err := step(); err != nil {
			return t, err
		}
		took := now().Sub(start)
		if n == 0 || took < t.Least {
			t.Least = took
		}
		t.Most = max(t.Most, took)
		all += took
	}
	return t, nil
}
