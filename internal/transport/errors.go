package transport

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/reprise-gpu/reprise/internal/sentinel"
)

// ErrClosed is in the chain of errors of calls after Close, and of a *LostError about a rank that called Close.
var ErrClosed = sentinel.New(sentinel.ErrClosed, "its transport was closed")

// ErrStalled is in the chain of a *WaitError that the watchdog caused.
var ErrStalled = errors.New("the limit of the watchdog was reached")

// LostError reports that a rank has failed, or is lost. On the rank itself, it reports the end of its own transport.
type LostError struct {
	Rank int
	Err  error // why
}

func (e *LostError) Error() string { return fmt.Sprintf("rank %d is lost: %v", e.Rank, e.Err) }

// Unwrap returns why the rank is lost.
func (e *LostError) Unwrap() error { return e.Err }

// OrderError reports that two ranks are in different collective calls.
type OrderError struct {
	Ranks [2]int
	Calls [2]string // "Gather" or "Freeze"
}

func (e *OrderError) Error() string {
	return fmt.Sprintf("rank %d called %s while rank %d called %s: all ranks must make the same collective calls in the same order",
		e.Ranks[0], e.Calls[0], e.Ranks[1], e.Calls[1])
}

// MismatchError reports that the messages that one rank sends to another differ from those that the other receives.
type MismatchError struct {
	Exchange       int // which call of Freeze, from 0
	From, To       int // ranks
	Tag            int32
	Sent, Received []int // sizes in bytes of the messages with this tag
}

func (e *MismatchError) Error() string {
	head := fmt.Sprintf("exchange %d: rank %d sends %s with tag %d to rank %d, which receives ", e.Exchange, e.From, sizes(e.Sent), e.Tag, e.To)
	if len(e.Sent) == len(e.Received) {
		return head + sizes(e.Received) + ": the sizes must be equal"
	}
	return head + sizes(e.Received) + ": every message needs a send and a receive"
}

// sizes returns "1 message of 8 bytes" or "2 messages of 8 and 16 bytes".
func sizes(bytes []int) string {
	const shown = 6
	if len(bytes) == 0 {
		return "no message"
	}
	words := make([]string, min(len(bytes), shown))
	for i := range words {
		words[i] = strconv.Itoa(bytes[i])
	}
	list := enumerate(words, len(bytes)-len(words))
	if len(bytes) == 1 {
		return "1 message of " + list + " bytes"
	}
	return fmt.Sprintf("%d messages of %s bytes", len(bytes), list)
}

// enumerate returns "a", "a and b", "a, b and c" or "a, b and 7 more".
func enumerate(words []string, more int) string {
	if more > 0 {
		words = append(words, fmt.Sprintf("%d more", more))
	}
	last := len(words) - 1
	if last < 1 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:last], ", ") + " and " + words[last]
}

// WaitError reports that a rank gave up a call in which it waited for others.
type WaitError struct {
	Rank    int
	Call    string // "Gather", "Freeze", or "run 3 of exchange 2", both from 0
	Waited  time.Duration
	Total   int        // messages of the exchange
	Missing []Missing  // those that were not complete
	Ranks   []int      // those that had not called Gather or Freeze, where this is known
	Others  []Activity // what the ranks did that had not sent or received, where this is known
	Err     error      // ErrStalled, or the error of the context
}

// Missing is a message that is not complete.
type Missing struct {
	Peer  int
	Tag   int32
	Send  bool
	Bytes int
}

// Activity is what a rank does.
type Activity struct {
	Rank int
	Call string // as in WaitError; "" if it is in none
}

func (e *WaitError) Error() string {
	text := fmt.Sprintf("rank %d waited %v in %s", e.Rank, e.Waited.Round(time.Millisecond), e.Call)
	if what := e.what(); what != "" {
		text += " for " + what
	}
	return text + others(e.Others) + ": " + e.Err.Error()
}

// Unwrap returns why the rank gave up.
func (e *WaitError) Unwrap() error { return e.Err }

func (e *WaitError) what() string {
	const shown = 4
	if e.Total == 0 {
		return ranks(e.Ranks)
	}
	if len(e.Missing) == 0 {
		return ""
	}
	words := make([]string, min(len(e.Missing), shown))
	for i := range words {
		words[i] = e.Missing[i].String()
	}
	return fmt.Sprintf("%d of %d messages (%s)", len(e.Missing), e.Total, enumerate(words, len(e.Missing)-len(words)))
}

func (m Missing) String() string {
	direction := "from"
	if m.Send {
		direction = "to"
	}
	return fmt.Sprintf("%d bytes with tag %d %s rank %d", m.Bytes, m.Tag, direction, m.Peer)
}

// ranks returns "", "rank 3" or "ranks 3, 4 and 7".
func ranks(of []int) string {
	const shown = 8
	if len(of) == 0 {
		return ""
	}
	words := make([]string, min(len(of), shown))
	for i := range words {
		words[i] = strconv.Itoa(of[i])
	}
	list := enumerate(words, len(of)-len(words))
	if len(of) == 1 {
		return "rank " + list
	}
	return "ranks " + list
}

// others returns "", or "; rank 1 is in Gather, rank 2 computes".
func others(of []Activity) string {
	const shown = 4
	if len(of) == 0 {
		return ""
	}
	words := make([]string, min(len(of), shown))
	for i := range words {
		words[i] = of[i].String()
	}
	return "; " + strings.Join(words, ", ")
}

func (a Activity) String() string {
	if a.Call == "" {
		return fmt.Sprintf("rank %d is in no call", a.Rank)
	}
	return fmt.Sprintf("rank %d is in %s", a.Rank, a.Call)
}
