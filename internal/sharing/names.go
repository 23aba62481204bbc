package sharing

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/reprise-gpu/reprise/internal/phrase"
)

// Names lists the names that Parse takes. DEPTH is a number of kernels, and TIME a duration.
func Names() []string {
	return []string{"fill", "greedy", "exclusive", "fifo:DEPTH", "priority", "timeslice:TIME", "fikit", "orion", "tally"}
}

// Limits of the parameters in names.
const (
	maxDepth = 1024
	maxSlice = time.Minute
)

// The parameters of policies without any in their names.
const (
	priorityDepth = 4
	fikitGap      = 20 * time.Microsecond // some four launches
	fikitHold     = 10 * time.Millisecond
	orionMost     = 160 * time.Microsecond // the artifact's value for ResNet-50
	tallyTime     = 100 * time.Microsecond // the artifact's value: idle time before a part, and length of a part
)

// Parse returns the policy of a name. The parameters of published policies are those of their publications. A change of
// slices takes no time of its own.
func Parse(name string) (Policy, error) {
	kind, value, given := strings.Cut(name, ":")
	switch {
	case kind == "fifo" && given:
		if n, err := strconv.Atoi(value); err == nil && n >= 1 && n <= maxDepth {
			return &Streams{Depth: n}, nil
		}
		return nil, fmt.Errorf("policy %s: write the kernels in flight, from 1 to %d, as in fifo:4", name, maxDepth)
	case kind == "timeslice" && given:
		if d, err := time.ParseDuration(value); err == nil && d > 0 && d <= maxSlice {
			return &Slices{Slice: d}, nil
		}
		return nil, fmt.Errorf("policy %s: write the slice, at most 1m, as in timeslice:2ms", name)
	}
	switch name {
	case "fill":
		return NewFill(Fill{}), nil
	case "greedy":
		return NewFill(Fill{Greedy: true}), nil
	case "exclusive":
		return Exclusive{}, nil
	case "priority":
		return &Streams{Depth: priorityDepth, Priority: true}, nil
	case "fikit":
		return &Fikit{SmallGap: fikitGap, Hold: fikitHold}, nil
	case "orion":
		return &Orion{Most: orionMost}, nil
	case "tally":
		return &Tally{Idle: tallyTime, Most: tallyTime}, nil
	}
	return nil, fmt.Errorf("unknown policy %q%s: use %s", name, phrase.DidYouMean(name, Names()), strings.Join(Names(), ", "))
}
