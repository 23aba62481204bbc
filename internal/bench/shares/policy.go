package shares

import (
	"fmt"
	"strings"
	"time"

	"github.com/reprise-gpu/reprise/internal/sharing"
)

// Policy is a policy with a name, which makes a fresh one for each run.
type Policy struct {
	Name string
	New  func() sharing.Policy
	// Default reports whether it is one of the ways in which a device shares itself without a scheduler: the denominators
	// of speed-ups.
	Default bool
	// cutsHigh makes the form of the policy that of the important program, too: its kernels are cut.
	cutsHigh bool
}

// switchTime is the time of a change of contexts. The slice of a device between processes is of the order of milliseconds,
// and a change takes 50 to 750 us (measured on embedded GPUs, GCAPS, ECRTS 2024); 50 us is in favour of slices.
const switchTime = 50 * time.Microsecond

const exclusiveOf = "exclusive"

// Policies lists the policies that are compared, in the order of tables.
func Policies() (list []Policy) {
	for _, name := range []string{exclusiveOf, "fifo:1", "fifo:4", "fifo:8", "timeslice:500µs", "timeslice:1ms", "timeslice:2ms",
		"priority", "fikit", "orion", "tally", "greedy", "fill"} {
		list = append(list, named(name))
	}
	return list
}

// named returns the policy of a name that sharing.Parse takes.
func named(name string) Policy {
	slices, streams := strings.HasPrefix(name, "timeslice"), strings.HasPrefix(name, "fifo")
	return Policy{Name: name, Default: slices || streams, cutsHigh: slices, New: func() sharing.Policy { return parsed(name) }}
}

// parsed returns the policy of a name.
func parsed(name string) sharing.Policy {
	p, err := sharing.Parse(name)
	if err != nil {
		panic("BUG: " + err.Error())
	}
	if s, ok := p.(*sharing.Slices); ok {
		s.Switch = switchTime
	}
	return p
}

// LookupPolicies returns the policies of a name, which may stand for several of the compared ones: fifo for all depths, timeslice
// for all slices, default for both, all. Any other name is one that sharing.Parse takes.
func LookupPolicies(name string) (list []Policy, err error) {
	for _, p := range Policies() {
		group, _, _ := strings.Cut(p.Name, ":")
		if name == p.Name || name == group || name == "all" || name == "default" && p.Default {
			list = append(list, p)
		}
	}
	if len(list) > 0 {
		return list, nil
	}
	if _, err := sharing.Parse(name); err != nil {
		return nil, fmt.Errorf("%w; all, default, fifo and timeslice stand for several", err)
	}
	return []Policy{named(name)}, nil
}
