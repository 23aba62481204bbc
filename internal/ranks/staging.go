package ranks

import (
	"context"
	"slices"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/distribute"
	"github.com/reprise-gpu/reprise/internal/transport"
)

// staging is the pinned memory of a rank from which messages are sent and into which they are received. Each part of an
// exchange has a place:
//
//	message to a rank     a place among those to the same rank, which are sent as one message
//	gathering             an image of all its bytes; each rank sends its pieces, and receives the others
type staging struct {
	p      *Plan
	images map[[3]int32]pinned // by round, exchange and part; of copies inside the rank, exchange -1 and the index of the Out
	found  map[int][][]int     // by round; see lanes
	bytes  int64               // of all places
}

// pinned is a part of pinned memory.
type pinned struct {
	at    device.Ptr
	bytes []byte
}

func (m pinned) cut(lo, hi int64) pinned { return pinned{m.at + device.Ptr(lo), m.bytes[lo:hi]} }

func newStaging(p *Plan) *staging {
	return &staging{p, map[[3]int32]pinned{}, map[int][][]int{}, 0}
}

// alloc allocates pinned memory, which all devices of the rank can copy to and from.
func (s *staging) alloc(bytes int64) (pinned, error) {
	if bytes == 0 {
		return pinned{}, nil
	}
	at, mem, err := s.p.rank.devices[0].AllocHost(bytes)
	if err != nil {
		return pinned{}, err
	}
	s.p.staged = append(s.p.staged, at)
	return pinned{at, mem}, nil
}

// place returns the address of the staging memory of an Out or an In.
func (s *staging) place(r, i int, op *distribute.Op) (device.Ptr, error) {
	if op.Exchange >= 0 {
		if err := s.layOut(r, int(op.Exchange)); err != nil {
			return 0, err
		}
		part := &s.p.plan.Rounds[r].Exchanges[op.Exchange].Parts[op.Part]
		image := s.images[[3]int32{int32(r), op.Exchange, op.Part}]
		return image.at + device.Ptr(op.Bytes.Lo-part.Bytes.Lo), nil
	}
	out := int32(i)
	if op.Kind == distribute.In {
		out = op.Part
	}
	key := [3]int32{int32(r), -1, out}
	if _, is := s.images[key]; !is {
		image, err := s.alloc(op.Bytes.Hi - op.Bytes.Lo)
		if err != nil {
			return 0, err
		}
		s.images[key] = image
		s.bytes += op.Bytes.Hi - op.Bytes.Lo
	}
	return s.images[key].at, nil
}

// layOut allocates the staging memory of an exchange, unless that is done. Parts between the same ranks are adjacent.
func (s *staging) layOut(r, x int) error {
	e := &s.p.plan.Rounds[r].Exchanges[x]
	if _, is := s.images[[3]int32{int32(r), int32(x), -1}]; is {
		return nil
	}
	total := int64(0)
	var order []int32 // of parts of this rank
	add := func(i int) {
		order = append(order, int32(i))
		total += e.Parts[i].Bytes.Hi - e.Parts[i].Bytes.Lo
	}
	for peer := range int32(s.p.rank.Size()) {
		s.messagesWith(e, peer, add)
	}
	for i := range e.Parts {
		if e.Parts[i].To < 0 {
			add(i)
		}
	}
	all, err := s.alloc(total)
	if err != nil {
		return err
	}
	s.bytes += total
	at := int64(0)
	for _, i := range order {
		n := e.Parts[i].Bytes.Hi - e.Parts[i].Bytes.Lo
		s.images[[3]int32{int32(r), int32(x), i}] = all.cut(at, at+n)
		at += n
	}
	s.images[[3]int32{int32(r), int32(x), -1}] = all
	return nil
}

// messagesWith calls f for each part that is a message between this rank and a peer, those of one direction first. Both
// ranks see the same order.
func (s *staging) messagesWith(e *distribute.Exchange, peer int32, f func(part int)) {
	me := int32(s.p.rank.Number())
	for _, from := range [2]int32{min(me, peer), max(me, peer)} {
		for i := range e.Parts {
			if part := &e.Parts[i]; me != peer && part.From == from && part.To == me+peer-from {
				f(i)
			}
		}
	}
}

// exchange is the messages of one exchange of this rank, frozen.
type exchange struct {
	frozen transport.Exchange // nil if no rank sends
	lanes  []int              // of the rank, that send or receive: see staging.lanes
	clock  *clock             // nil if the devices are real
}

// lanes returns the lanes of this rank that take part in each exchange of a round: the number of the device times that of lanes,
// plus the lane. One pass over the operations finds them for all.
func (s *staging) lanes(r int) [][]int {
	if list, is := s.found[r]; is {
		return list
	}
	list := make([][]int, len(s.p.plan.Rounds[r].Exchanges))
	for i := range s.p.plan.Rounds[r].Ops {
		op := &s.p.plan.Rounds[r].Ops[i]
		d, is := s.p.mine(op)
		if is && op.Exchange >= 0 && (op.Kind == distribute.Out || op.Kind == distribute.In) {
			list[op.Exchange] = insert(list[op.Exchange], d*int(distribute.Lanes)+int(s.p.plan.Lane(op)))
		}
	}
	s.found[r] = list
	return list
}

// insert inserts a number into an ascending list, unless it is there.
func insert(list []int, n int) []int {
	i, is := slices.BinarySearch(list, n)
	if is {
		return list
	}
	return slices.Insert(list, i, n)
}

// exchange freezes the messages of an exchange. It is collective.
func (s *staging) exchange(ctx context.Context, r, x int) (*exchange, error) {
	if err := s.layOut(r, x); err != nil {
		return nil, err
	}
	e := &exchange{lanes: s.lanes(r)[x]}
	if s.p.rank.Size() == 1 {
		return e, nil
	}
	list := s.messages(r, x)
	var messages []transport.Message
	for _, m := range list {
		messages = append(messages, transport.Message{Peer: m.peer, Send: m.send, Bytes: m.bytes})
	}
	if s.p.simulated() {
		var err error
		if e.clock, err = s.clock(list); err != nil {
			return nil, err
		}
		messages = append(messages, e.clock.messages()...)
	}
	var err error
	if e.frozen, err = s.p.rank.transport.Freeze(messages); err != nil {
		return nil, err
	}
	s.p.frozen = append(s.p.frozen, e.frozen)
	return e, nil
}

// message is bytes to or from another rank.
type message struct {
	pinned
	peer   int
	send   bool
	gather bool
}

// messages returns the messages of this rank in an exchange: for each other rank the parts between the two and the pieces
// of gatherings. Those that are adjacent in memory are one message.
func (s *staging) messages(r, x int) (list []message) {
	e := &s.p.plan.Rounds[r].Exchanges[x]
	me := int32(s.p.rank.Number())
	image := func(i int) pinned { return s.images[[3]int32{int32(r), int32(x), int32(i)}] }
	for peer := range int32(s.p.rank.Size()) {
		if peer == me {
			continue
		}
		s.messagesWith(e, peer, func(i int) {
			list = join(list, message{image(i), int(peer), e.Parts[i].From == me, false})
		})
		for i := range e.Parts {
			part := &e.Parts[i]
			for _, piece := range part.Pieces {
				if piece.Rank == me || piece.Rank == peer {
					list = join(list, message{image(i).cut(piece.Lo-part.Bytes.Lo, piece.Hi-part.Bytes.Lo), int(peer), piece.Rank == me, true})
				}
			}
		}
	}
	return list
}

// join appends a message, or lengthens the last one if both are adjacent in memory, which holds on both ranks alike: messages
// of a pair of ranks and images of gatherings each have the same order on both.
func join(list []message, m message) []message {
	if n := len(list) - 1; n >= 0 {
		last := &list[n]
		if last.peer == m.peer && last.send == m.send && last.gather == m.gather && last.at+device.Ptr(len(last.bytes)) == m.at {
			last.bytes = last.bytes[:len(last.bytes)+len(m.bytes)]
			return list
		}
	}
	return append(list, m)
}
