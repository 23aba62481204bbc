package transport_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/internal/transport"
	"github.com/reprise-gpu/reprise/internal/transport/transporttest"
)

// unsteady returns n ranks with faults.
func unsteady(n int, o transport.Options, faults func(rank int) transporttest.Faults) []transport.Transport {
	ranks := transport.LocalWith(n, o)
	for r, rank := range ranks {
		ranks[r] = transporttest.Unsteady(rank, faults(r))
	}
	return ranks
}

// TestDelaysChangeNothing: messages that start late and in another order arrive all the same.
func TestDelaysChangeNothing(t *testing.T) {
	for _, n := range []int{1, 3} {
		ranks := unsteady(n, transport.Options{}, func(r int) transporttest.Faults {
			return transporttest.Faults{Seed: uint64(n), Delay: 20 * time.Microsecond}
		})
		for _, check := range transporttest.Checks {
			if !slices.Contains([]string{"restart", "agree", "tags"}, check.Name) { // they have too many messages
				t.Run(fmt.Sprintf("%s/%d", check.Name, n), func(t *testing.T) { onEach(t, ranks, check.Run) })
			}
		}
	}
}

// TestDroppedMessageIsNamed: the receiver names the message that is missing, and all others name the receiver.
func TestDroppedMessageIsNamed(t *testing.T) {
	ranks := unsteady(3, transport.Options{Watch: 500 * time.Millisecond}, func(r int) transporttest.Faults {
		return transporttest.Faults{Drop: func(m transport.Message, run int) bool { return r == 0 && m.Tag == 8 && run >= 2 }}
	})
	onEach(t, ranks, func(ctx context.Context, rank transport.Transport) error {
		e, err := rank.Freeze(broadcast(rank))
		for run := 0; err == nil; run++ {
			err = e.Run(ctx)
		}
		assert.ErrorIs(t, err, transport.ErrStalled)
		assert.ErrorContains(t, err, "for 1 of 1 messages (30 bytes with tag 8 from rank 0)")
		if rank.Rank() == 1 {
			assert.Regexp(t, "^rank 1 waited ", err.Error())
		} else {
			assert.Regexp(t, "^rank 1 is lost: rank 1 waited ", err.Error())
		}
		return nil
	})
}

// broadcast returns messages of 30 bytes from rank 0: with tag 8 to rank 1, and with tag 9 to rank 2.
func broadcast(rank transport.Transport) []transport.Message {
	to := func(peer int, tag int32, send bool) transport.Message {
		return transport.Message{Peer: peer, Tag: tag, Send: send, Bytes: make([]byte, 30)}
	}
	return [][]transport.Message{{to(1, 8, true), to(2, 9, true)}, {to(0, 8, false)}, {to(0, 9, false)}}[rank.Rank()]
}

// TestKilledRankEndsAllOthers kills a random rank at a random call, many times.
func TestKilledRankEndsAllOthers(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for i := range 100 {
		n := 2 + random.IntN(7)
		victim, kill := random.IntN(n), 1+random.IntN(60)
		ranks := unsteady(n, transport.Options{Watch: 10 * time.Second}, func(r int) transporttest.Faults {
			if r == victim {
				return transporttest.Faults{Kill: kill}
			}
			return transporttest.Faults{}
		})
		onEach(t, ranks, func(ctx context.Context, rank transport.Transport) error {
			err := exchangeUntilError(ctx, rank)
			var lost *transport.LostError
			switch {
			case rank.Rank() == victim && errors.Is(err, transporttest.ErrKilled):
			case rank.Rank() != victim && errors.As(err, &lost) && lost.Rank == victim:
			default:
				return fmt.Errorf("rank %d was killed at call %d, and the error is %w", victim, kill, err)
			}
			return nil
		})
		require.False(t, t.Failed(), "time %d", i)
	}
}

// exchangeUntilError exchanges with both neighbours and gathers in between.
func exchangeUntilError(ctx context.Context, t transport.Transport) error {
	next, previous := (t.Rank()+1)%t.Size(), (t.Rank()+t.Size()-1)%t.Size()
	e, err := t.Freeze([]transport.Message{{Peer: next, Send: true, Bytes: make([]byte, 100)}, {Peer: previous, Bytes: make([]byte, 100)}})
	for run := 0; err == nil; run++ {
		err = e.Run(ctx)
		if err == nil && run%5 == 0 {
			_, err = t.Gather(ctx, nil)
		}
	}
	return err
}
