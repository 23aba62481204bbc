package sharing

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/reprise-gpu/reprise/internal/phrase"
)

// Names lists the names that Parse takes, without flag, which is for programs of one process. DEPTH is a number of kernels, TIME a duration, and TARGET a percentage.
func Names() []string {
	return []string{"fill", "fill:TARGET", "mean", "greedy", "exclusive", "fifo:DEPTH", "priority", "timeslice:TIME", "fikit", "orion", "tally"}
}

// Limits of the parameters in names.
const (
	maxDepth = 1024
	maxSlice = time.Minute
	// Targets of fill, in percent.
	minTarget = 0.01
	maxTarget = 100
)

// The parameters of policies without any in their names.
const (
	priorityDepth = 4
	fikitGap      = 20 * time.Microsecond // some four launches
	fikitHold     = 10 * time.Millisecond
	orionMost     = 160 * time.Microsecond // the artifact's value for ResNet-50
	tallyTime     = 100 * time.Microsecond // the artifact's value: idle time before a part, and length of a part
)

// Parse returns the policy of a name: one of Names, or flag. The parameters of published policies are those of their publications. A change of
// slices takes no time of its own.
func Parse(name string) (Policy, error) {
	kind, value, given := strings.Cut(name, ":")
	switch {
	case kind == "fill" && given:
		number, percent := strings.CutSuffix(value, "%")
		if t, err := strconv.ParseFloat(number, 64); percent && err == nil && t >= minTarget && t <= maxTarget {
			return NewFill(Fill{Target: t / 100}), nil
		}
		return nil, fmt.Errorf("policy %s: write the target of delays as a percentage from %v%% to %v%%, as in fill:2%%", name, minTarget, maxTarget)
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
	case "flag":
		return NewFill(Fill{Flag: true}), nil
	case "mean":
		return NewFill(Fill{Mean: true}), nil
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
