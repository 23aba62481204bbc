package main

import "github.com/reprise-gpu/reprise/internal/sharing"

// policyHelp describes the policies that sharing.Parse takes.
const policyHelp = `  fill            others run in the gaps of the greatest class, in pieces with a bound
  fill:TARGET     the same with another target of delays than 1%, as in fill:2%
  mean            the same, but gaps are expected to be as long as their mean
  greedy          the same, whenever the greatest class is idle
  exclusive       one stage at a time, greater classes first
  fifo:DEPTH      each program has DEPTH kernels in flight, in a stream of its own
  priority        fifo:4, and streams have the priorities of their classes
  timeslice:TIME  programs in turn, as processes share a device by default
  fikit           kernels of others in gaps that they are predicted to fit, as published
  orion           kernels of others beside those of the other bound, as published
  tally           parts of kernels when the greatest class is idle for 100 us, as published
`

// parsePolicy returns the policy of --policy.
func parsePolicy(name string) (sharing.Policy, error) {
	p, err := sharing.Parse(name)
	if err != nil {
		return nil, usagef("--policy: %w", err)
	}
	return p, nil
}
