package transport

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
)

// A rank describes its messages to the others as one byte, ok or refused, and then either a record for each message or
// the text of an error.
const (
	refused byte = iota
	ok
)

const recordSize = 4 + 4 + 8 + 1 // peer, tag, size, send

// Describe returns the description of the messages of a rank for Pair. A message that names no rank is described as an
// error, which Pair returns on all ranks.
func Describe(rank, size int, messages []Message) []byte {
	for i, m := range messages {
		if m.Peer < 0 || m.Peer >= size {
			return fmt.Appendf([]byte{refused}, "message %d of rank %d names rank %d, and there are ranks 0 to %d", i, rank, m.Peer, size-1)
		}
	}
	text := append(make([]byte, 0, 1+len(messages)*recordSize), ok)
	for _, m := range messages {
		text = binary.LittleEndian.AppendUint32(text, uint32(m.Peer))
		text = binary.LittleEndian.AppendUint32(text, uint32(m.Tag))
		text = binary.LittleEndian.AppendUint64(text, uint64(len(m.Bytes)))
		text = append(text, sendByte(m.Send))
	}
	return text
}

func sendByte(send bool) byte {
	if send {
		return 1
	}
	return 0
}

// described is one message of a description.
type described struct {
	from, to int
	tag      int32
	size     int
	rank     int // that described it
	index    int // in its list
}

// Pair checks the descriptions of all ranks, by rank, for the exchange with this number. It returns for each message of
// the rank its ordinal among the messages from its sender to its receiver. Both sides of a message have the same ordinal.
//
// The messages are sorted by pair of ranks and tag, once for the sending and once for the receiving sides; equal
// messages keep the order of their lists. Both lists must then be equal. O(n log n) for n messages of all ranks.
func Pair(exchange, rank int, descriptions [][]byte) ([]int, error) {
	var sent, received []described
	for r, text := range descriptions {
		if text[0] == refused {
			return nil, fmt.Errorf("exchange %d: %w", exchange, errors.New(string(text[1:])))
		}
		sent, received = appendDescribed(sent, received, r, text[1:])
	}
	slices.SortStableFunc(sent, described.compare)
	slices.SortStableFunc(received, described.compare)
	if err := checkEqual(exchange, sent, received); err != nil {
		return nil, err
	}
	ordinals := make([]int, (len(descriptions[rank])-1)/recordSize)
	setOrdinals(ordinals, rank, sent)
	setOrdinals(ordinals, rank, received)
	return ordinals, nil
}

func appendDescribed(sent, received []described, rank int, text []byte) (s, r []described) {
	for i := 0; len(text) > 0; i, text = i+1, text[recordSize:] {
		peer := int(binary.LittleEndian.Uint32(text))
		d := described{from: peer, to: rank, rank: rank, index: i,
			tag: int32(binary.LittleEndian.Uint32(text[4:])), size: int(binary.LittleEndian.Uint64(text[8:]))}
		if text[16] == sendByte(true) {
			d.from, d.to = rank, peer
			sent = append(sent, d)
		} else {
			received = append(received, d)
		}
	}
	return sent, received
}

// compare orders by sender, receiver and tag.
func (d described) compare(other described) int {
	return cmp.Or(cmp.Compare(d.from, other.from), cmp.Compare(d.to, other.to), cmp.Compare(d.tag, other.tag))
}

// checkEqual returns a *MismatchError for the first difference.
func checkEqual(exchange int, sent, received []described) error {
	for i := range max(len(sent), len(received)) {
		switch {
		case i == len(received), i < len(sent) && sent[i].compare(received[i]) < 0:
			return mismatch(exchange, sent[i], sent, received)
		case i == len(sent), sent[i].compare(received[i]) > 0, sent[i].size != received[i].size:
			return mismatch(exchange, received[i], sent, received)
		}
	}
	return nil
}

func mismatch(exchange int, at described, sent, received []described) error {
	return &MismatchError{Exchange: exchange, From: at.from, To: at.to, Tag: at.tag, Sent: at.sizes(sent), Received: at.sizes(received)}
}

// sizes returns the sizes of the messages of a list with the ranks and the tag of d.
func (d described) sizes(list []described) []int {
	var found []int
	for _, other := range list {
		if d.compare(other) == 0 {
			found = append(found, other.size)
		}
	}
	return found
}

// setOrdinals numbers the messages of each pair of ranks, and stores the numbers of those that rank described.
func setOrdinals(ordinals []int, rank int, sorted []described) {
	next := 0
	for i, d := range sorted {
		if i > 0 && (sorted[i-1].from != d.from || sorted[i-1].to != d.to) {
			next = 0
		}
		if d.rank == rank {
			ordinals[d.index] = next
		}
		next++
	}
}
