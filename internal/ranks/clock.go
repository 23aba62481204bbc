package ranks

import (
	"cmp"
	"encoding/binary"
	"slices"
	"time"

	"github.com/reprise-gpu/reprise/device/model"
	"github.com/reprise-gpu/reprise/internal/machine"
	"github.com/reprise-gpu/reprise/internal/transport"
)

// clock carries virtual time between the ranks of a simulated machine. Beside each message of an exchange, the virtual time
// of its arrival is sent; the receiver waits until then.
type clock struct {
	machine *machine.Machine
	rank    int
	list    []timed
	ports   *ports
}

// ports is the times from which on the network port of a rank is free to send and to receive.
type ports struct{ send, receive model.Time }

// timed is a message and the time of its arrival, in eight bytes.
type timed struct {
	peer  int
	send  bool
	bytes int64
	stamp []byte
}

// clock returns the clock of an exchange with these messages.
func (s *staging) clock(list []message) (*clock, error) {
	c := &clock{machine: s.p.rank.machine, rank: s.p.rank.Number(), ports: &s.p.ports}
	for _, m := range list {
		stamp, err := s.alloc(8)
		if err != nil {
			return nil, err
		}
		c.list = append(c.list, timed{m.peer, m.send, int64(len(m.bytes)), stamp.bytes})
	}
	return c, nil
}

// stampTag is the tag of messages that carry times.
const stampTag = 1

// messages returns the messages that carry the times.
func (c *clock) messages() (list []transport.Message) {
	for _, m := range c.list {
		list = append(list, transport.Message{Peer: m.peer, Send: m.send, Tag: stampTag, Bytes: m.stamp})
	}
	return list
}

// depart sets the times of the messages that are sent, all ready at now.
func (c *clock) depart(now time.Duration) {
	for _, m := range c.list {
		if !m.send {
			continue
		}
		var arrival model.Time
		arrival, c.ports.send = c.machine.Arrival(c.rank, m.peer, m.bytes, timeOf(now), c.ports.send)
		binary.LittleEndian.PutUint64(m.stamp, uint64(arrival))
	}
}

// arrive returns the time at which all messages have been received.
func (c *clock) arrive() time.Duration {
	type arrived struct {
		timed
		at model.Time
	}
	var list []arrived
	for _, m := range c.list {
		if !m.send {
			list = append(list, arrived{m, model.Time(binary.LittleEndian.Uint64(m.stamp))})
		}
	}
	slices.SortStableFunc(list, func(a, b arrived) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.peer, b.peer)) })
	last := model.Time(0)
	for _, m := range list {
		last = c.machine.Delivery(m.peer, c.rank, m.bytes, m.at, c.ports.receive)
		c.ports.receive = last
	}
	return durationOf(last)
}

// timeOf and durationOf convert between times of models, in picoseconds, and durations. durationOf rounds up.
func timeOf(d time.Duration) model.Time { return model.Time(d.Nanoseconds()) * model.Nanosecond }

func durationOf(t model.Time) time.Duration {
	return time.Duration((t + model.Nanosecond - 1) / model.Nanosecond)
}

// waiter is a simulated device, whose host can wait until a virtual time.
type waiter interface{ WaitUntil(t time.Duration) }

// simulated reports whether all devices of the rank are simulated.
func (p *Plan) simulated() bool {
	for _, d := range p.rank.devices {
		if _, is := d.(waiter); !is || !d.Info().Simulated {
			return false
		}
	}
	return true
}
