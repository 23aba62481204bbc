package machine

import (
	"math"

	"github.com/reprise-gpu/reprise/device/model"
)

// The network follows the LogGP model (A. Alexandrov et al., "LogGP: Incorporating Long Messages into the LogP Model",
// 1995). A message occupies the outgoing side of its sender for Message plus its bytes at the bandwidth, arrives after
// Latency, and occupies the incoming side of its receiver for the same time as that of the sender. Without contention the
// two occupations overlap but for the latency, so a message takes
//
//	Message + bytes/bandwidth + Latency
//
// The ranks of a node divide the bandwidth of the node equally, whether or not all of them send. A rank therefore needs
// no knowledge of what the other ranks of its node do, and times are deterministic.

// Arrival returns the time at which a message of rank from, which is ready to be sent at time ready, arrives at rank to if
// nothing else arrives there, and the time at which the outgoing side of the sender is free again. It is free for this
// message at nicFree.
func (m *Machine) Arrival(from, to int, bytes int64, ready, nicFree model.Time) (arrival, free model.Time) {
	free = max(ready, nicFree) + m.Occupation(from, to, bytes)
	return free + m.Between(from, to).Latency, free
}

// Delivery returns the time at which a message from Arrival is complete, if the incoming side of rank to is free at
// nicFree. It is free again at the same time. Messages must be delivered in order of their arrivals, ties by rank.
func (m *Machine) Delivery(from, to int, bytes int64, arrival, nicFree model.Time) model.Time {
	return max(arrival, nicFree+m.Occupation(from, to, bytes))
}

// Occupation returns the time for which a message occupies the outgoing side of rank from, and the incoming side of rank to.
func (m *Machine) Occupation(from, to int, bytes int64) model.Time {
	n := m.Between(from, to)
	gbps := n.GBps
	if n == &m.Network {
		gbps /= float64(max(m.ranksOf(from), m.ranksOf(to)))
	}
	return n.Message + model.Time(math.Ceil(float64(bytes)*1000/gbps)) // 1 GB/s is 1 byte per 1000 ps
}

// ranksOf returns the number of ranks of the node of a rank. Ranks of one node have consecutive numbers.
func (m *Machine) ranksOf(rank int) int {
	node := m.Ranks[rank].Node
	first, last := rank, rank
	for first > 0 && m.Ranks[first-1].Node == node {
		first--
	}
	for last+1 < len(m.Ranks) && m.Ranks[last+1].Node == node {
		last++
	}
	return last - first + 1
}
