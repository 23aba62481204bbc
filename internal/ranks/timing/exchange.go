package timing

import (
	"cmp"
	"slices"

	"github.com/reprise-gpu/reprise/device/model"
	"github.com/reprise-gpu/reprise/internal/distribute"
	"github.com/reprise-gpu/reprise/internal/ranks/launches"
)

// exchange runs an exchange of all ranks: each waits for its urgent work, sends its messages and waits for those to it.
func (s *Simulation) exchange(e *distribute.Exchange) {
	for _, k := range s.ranks {
		k.synchronize(&k.streams[launches.Urgent])
	}
	if len(s.ranks) == 1 {
		return
	}
	arrivals := make([][]arrival, len(s.ranks))
	e.Messages(len(s.ranks), func(from, to int, bytes int64) {
		k := s.ranks[from]
		var at model.Time
		at, k.send = s.machine.Arrival(from, to, bytes, k.host, k.send)
		arrivals[to] = append(arrivals[to], arrival{at, from, bytes})
	})
	for to, list := range arrivals {
		s.receive(s.ranks[to], list)
	}
}

// arrival is a message that arrives at a rank.
type arrival struct {
	at    model.Time
	from  int
	bytes int64
}

// receive makes a rank wait for its messages, which are delivered in the order of their arrival.
func (s *Simulation) receive(k *rank, list []arrival) {
	slices.SortStableFunc(list, func(a, b arrival) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.from, b.from)) })
	for _, a := range list {
		k.receive = s.machine.Delivery(a.from, k.number, a.bytes, a.at, k.receive)
	}
	if len(list) > 0 {
		k.host = max(k.host, k.receive)
	}
}
