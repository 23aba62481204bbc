package transport

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"strings"
)

// CallError reports that the ranks have made different calls, or with different arguments.
type CallError struct {
	// Groups are the ranks that have made the same call, ordered by their first rank, and Calls is the call of each group.
	Groups [][]int
	Calls  []string
}

func (e *CallError) Error() string {
	words := make([]string, len(e.Calls))
	for i, call := range e.Calls {
		words[i] = call + " on " + ranks(e.Groups[i])
	}
	return fmt.Sprintf("the ranks differ in a call: %s: all ranks must make the same calls with the same arguments", strings.Join(words, ", "))
}

// callMark begins what GatherFor gathers. A rank that is in another gather sends other bytes.
const callMark = "call"

// GatherFor is a Gather on behalf of a call, which names a method and those of its arguments that must be equal on all ranks.
// If the calls differ, all ranks return the same *CallError. It is one Gather.
func GatherFor(ctx context.Context, t Transport, call string, mine []byte) ([][]byte, error) {
	text := append(make([]byte, 0, len(callMark)+binary.MaxVarintLen64+len(call)+len(mine)), callMark...)
	text = binary.AppendUvarint(text, uint64(len(call)))
	parts, err := t.Gather(ctx, append(append(text, call...), mine...))
	if err != nil {
		return nil, err
	}
	calls := make([][]byte, len(parts))
	for r, part := range parts {
		calls[r], parts[r] = cutCall(part)
	}
	if sameBytes(calls) {
		return parts, nil
	}
	e := &CallError{Groups: groups(calls)}
	for _, group := range e.Groups {
		e.Calls = append(e.Calls, string(calls[group[0]]))
	}
	return nil, e
}

// cutCall returns the call and what is behind it.
func cutCall(part []byte) (call, rest []byte) {
	text, marked := bytes.CutPrefix(part, []byte(callMark))
	n, size := binary.Uvarint(text)
	if !marked || size <= 0 || n > uint64(len(text)-size) {
		return []byte("another collective call"), nil
	}
	return text[size : size+int(n)], text[size+int(n):]
}
