package main

import (
	"strconv"
	"strings"
	"time"

	"github.com/reprise-gpu/reprise/internal/sharing"
)

// policyNames are the policies of --policy, as parsePolicy takes them.
var policyNames = []string{"fill", "greedy", "exclusive", "fifo:DEPTH", "priority", "timeslice:TIME", "fikit", "orion", "tally"}

// policyHelp describes the policies.
const policyHelp = `  fill            others run in the gaps of the greatest class, in pieces with a bound
  greedy          the same, whenever the greatest class is idle
  exclusive       one stage at a time, greater classes first
  fifo:DEPTH      each program has DEPTH kernels in flight, in a stream of its own
  priority        fifo:8, and streams have the priorities of their classes
  timeslice:TIME  programs in turn, as processes share a device by default
  fikit           kernels of others in gaps that they are predicted to fit, as published
  orion           kernels of others beside those of the other bound, as published
  tally           parts of kernels when the greatest class is idle for 100 us, as published
`

// parsePolicy returns the policy of a name. The parameters of published policies are those of their publications.
func parsePolicy(name string) (sharing.Policy, error) {
	kind, value, given := strings.Cut(name, ":")
	switch {
	case kind == "fifo" && given:
		if n, err := strconv.Atoi(value); err == nil && n >= 1 && n <= 1024 {
			return &sharing.Streams{Depth: n}, nil
		}
		return nil, usagef("--policy %s: write the kernels in flight, from 1 to 1024, as in fifo:4", name)
	case kind == "timeslice" && given:
		if d, err := time.ParseDuration(value); err == nil && d > 0 && d <= time.Minute {
			return &sharing.Slices{Slice: d}, nil
		}
		return nil, usagef("--policy %s: write the slice, at most 1m, as in timeslice:2ms", name)
	}
	switch name {
	case "fill":
		return sharing.NewFill(sharing.Fill{}), nil
	case "greedy":
		return sharing.NewFill(sharing.Fill{Greedy: true}), nil
	case "exclusive":
		return sharing.Exclusive{}, nil
	case "priority":
		return &sharing.Streams{Depth: 8, Priority: true}, nil
	case "fikit":
		return &sharing.Fikit{SmallGap: 20 * time.Microsecond, Hold: 10 * time.Millisecond}, nil
	case "orion":
		return &sharing.Orion{Most: 160 * time.Microsecond}, nil
	case "tally":
		return &sharing.Tally{Idle: 100 * time.Microsecond, Most: 100 * time.Microsecond}, nil
	}
	return nil, usagef("unknown --policy %q: use %s", name, strings.Join(policyNames, ", "))
}
