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

// The parameters of the policies. The slice of a device between processes is of the order of milliseconds, and a change
// of contexts takes 50 to 750 us (measured on embedded GPUs, GCAPS, ECRTS 2024); 50 us is in favour of slices.
const (
	switchTime  = 50 * time.Microsecond
	orionCap    = 160 * time.Microsecond // the artifact's value for ResNet-50
	tallyTime   = 100 * time.Microsecond // the artifact's value: idle time before a part, and length of a part
	fikitGap    = 20 * time.Microsecond  // some four launches
	fikitHold   = 10 * time.Millisecond
	exclusiveOf = "exclusive"
)

// Policies lists the policies that are compared, in the order of tables.
func Policies() []Policy {
	fifo := func(depth int) Policy {
		return Policy{Name: fmt.Sprintf("fifo:%d", depth), Default: true, New: func() sharing.Policy { return &sharing.Streams{Depth: depth} }}
	}
	slice := func(d time.Duration) Policy {
		return Policy{Name: fmt.Sprintf("timeslice:%v", d), Default: true, cutsHigh: true, New: func() sharing.Policy { return &sharing.Slices{Slice: d, Switch: switchTime} }}
	}
	return []Policy{
		{Name: exclusiveOf, New: func() sharing.Policy { return sharing.Exclusive{} }},
		fifo(1), fifo(4), fifo(8),
		slice(500 * time.Microsecond), slice(time.Millisecond), slice(2 * time.Millisecond),
		{Name: "priority", New: func() sharing.Policy { return &sharing.Streams{Depth: 4, Priority: true} }},
		{Name: "fikit", New: func() sharing.Policy { return &sharing.Fikit{SmallGap: fikitGap, Hold: fikitHold} }},
		{Name: "orion", New: func() sharing.Policy { return &sharing.Orion{Most: orionCap} }},
		{Name: "tally", New: func() sharing.Policy { return &sharing.Tally{Idle: tallyTime, Most: tallyTime} }},
		{Name: "greedy", New: func() sharing.Policy { return sharing.NewFill(sharing.Fill{Greedy: true}) }},
		{Name: "fill", New: func() sharing.Policy { return sharing.NewFill(sharing.Fill{}) }},
	}
}

// LookupPolicies returns the policies of a name, which may stand for several: fifo for all depths, timeslice for all
// slices, default for both, all.
func LookupPolicies(name string) (list []Policy, err error) {
	for _, p := range Policies() {
		group, _, _ := strings.Cut(p.Name, ":")
		if name == p.Name || name == group || name == "all" || name == "default" && p.Default {
			list = append(list, p)
		}
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("unknown policy %q: use all, default, or some of %s", name, strings.Join(PolicyNames(), ", "))
	}
	return list, nil
}

// PolicyNames lists the names of the policies.
func PolicyNames() (names []string) {
	for _, p := range Policies() {
		names = append(names, p.Name)
	}
	return names
}
