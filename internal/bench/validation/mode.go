package validation

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Mode is how a launch is timed.
type Mode struct {
	Kind     string // one of the kinds below
	Launches int    // 0 for the kinds that time one launch
}

// The kinds of modes. Those of the first group time several launches and report the time of each.
const (
	kindStream   = "stream"   // launches back to back in a stream, between two events
	kindPingPong = "pingpong" // the same; every second launch exchanges the first two arguments
	kindGraph    = "graph"    // a chain of graph nodes, between two events
	kindHost     = "host"     // launches and the wait for them, on the host's clock

	kindCold     = "cold"     // one launch after L2 was flushed, between two events
	kindSpan     = "span"     // duration of one kernel as a profiler reports it, L2 warm
	kindColdSpan = "coldspan" // the same after L2 was flushed
)

var (
	repeatedKinds = []string{kindStream, kindPingPong, kindGraph, kindHost}
	singleKinds   = []string{kindCold, kindSpan, kindColdSpan}
)

// maxLaunches bounds the launches of a row.
const maxLaunches = 1 << 20

func (m Mode) String() string {
	if m.Launches == 0 {
		return m.Kind
	}
	return fmt.Sprintf("%s:%d", m.Kind, m.Launches)
}

// cold reports whether the launch finds nothing of its data in L2.
func (m Mode) cold() bool { return m.Kind == kindCold || m.Kind == kindColdSpan }

func parseMode(text string) (Mode, error) {
	kind, count, counted := strings.Cut(text, ":")
	switch {
	case slices.Contains(singleKinds, kind):
		if counted {
			return Mode{}, fmt.Errorf("%q: %s times one launch; write it without a number", text, kind)
		}
		return Mode{Kind: kind}, nil
	case !slices.Contains(repeatedKinds, kind):
		return Mode{}, fmt.Errorf("unknown mode %q; there are %s:N, %s", text, strings.Join(repeatedKinds, ":N, "), strings.Join(singleKinds, ", "))
	}
	n, err := strconv.Atoi(count)
	if err != nil || n < 1 || n > maxLaunches {
		return Mode{}, fmt.Errorf("%q needs a number of launches from 1 to %d, as in %s:8", text, maxLaunches, kind)
	}
	return Mode{Kind: kind, Launches: n}, nil
}
