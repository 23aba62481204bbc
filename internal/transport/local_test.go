package transport_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/internal/transport"
	"github.com/reprise-gpu/reprise/internal/transport/transporttest"
)

// onEach runs a function for all ranks at the same time. It fails the test after a minute.
func onEach(t *testing.T, ranks []transport.Transport, run func(context.Context, transport.Transport) error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var all sync.WaitGroup
	for _, rank := range ranks {
		all.Go(func() { assert.NoError(t, run(ctx, rank), "rank %d of %d", rank.Rank(), rank.Size()) })
	}
	all.Wait()
}

func TestLocalConforms(t *testing.T) {
	for n := 1; n <= 8; n++ {
		if testing.Short() && n > 3 {
			break
		}
		ranks := transport.Local(n)
		for _, check := range transporttest.Checks {
			t.Run(fmt.Sprintf("%s/%d", check.Name, n), func(t *testing.T) { onEach(t, ranks, check.Run) })
		}
		onEach(t, ranks, func(_ context.Context, rank transport.Transport) error { return rank.Close() })
	}
}

func TestLocalEnds(t *testing.T) {
	for _, n := range []int{2, 3, 4, 7} {
		for _, ending := range transporttest.Endings {
			t.Run(fmt.Sprintf("%s/%d", ending.Name, n), func(t *testing.T) {
				t.Parallel()
				onEach(t, transport.LocalWith(n, transporttest.OptionsOf(ending)), ending.Run)
			})
		}
	}
}

// exchanges freezes one message of a size from rank 0 to rank 1.
func exchanges(t *testing.T, ranks []transport.Transport, tag int32, size int) []transport.Exchange {
	t.Helper()
	all := make([]transport.Exchange, len(ranks))
	onEach(t, ranks, func(_ context.Context, rank transport.Transport) (err error) {
		var mine []transport.Message
		if rank.Rank() < 2 {
			mine = append(mine, transport.Message{Peer: 1 - rank.Rank(), Tag: tag, Send: rank.Rank() == 0, Bytes: make([]byte, size)})
		}
		all[rank.Rank()], err = rank.Freeze(mine)
		return err
	})
	return all
}

// TestWatchdogNamesWhatIsMissing: the text says who waits for what, and what the other rank does.
func TestWatchdogNamesWhatIsMissing(t *testing.T) {
	ranks := transport.LocalWith(3, transport.Options{Watch: 200 * time.Millisecond})
	exchanges(t, ranks, 5, 8)
	second := exchanges(t, ranks, 7, 4096)
	other := make(chan error)
	go func() {
		time.Sleep(100 * time.Millisecond)
		_, err := ranks[0].Gather(t.Context(), nil)
		other <- err
	}()
	err := second[1].Run(t.Context())
	var wait *transport.WaitError
	require.ErrorAs(t, err, &wait)
	assert.Equal(t, []transport.Missing{{Peer: 0, Tag: 7, Bytes: 4096}}, wait.Missing)
	assert.ErrorIs(t, err, transport.ErrStalled)
	assert.Regexp(t, `^rank 1 waited \d+ms in run 0 of exchange 1 for 1 of 1 messages \(4096 bytes with tag 7 from rank 0\); `+
		`rank 0 is in Gather: the limit of the watchdog was reached$`, err.Error())
	assert.EqualError(t, <-other, "rank 1 is lost: "+err.Error())
}

// TestCloseAfterTheEnd: a rank that has done its part may close while others continue without it.
func TestCloseAfterTheEnd(t *testing.T) {
	ranks := transport.Local(3)
	between := exchanges(t, ranks, 1, 8)
	require.NoError(t, ranks[2].Close())
	onEach(t, ranks[:2], func(ctx context.Context, rank transport.Transport) error { return between[rank.Rank()].Run(ctx) })
	_, err := ranks[0].Gather(t.Context(), nil)
	var lost *transport.LostError
	require.ErrorAs(t, err, &lost)
	assert.Equal(t, 2, lost.Rank)
}

// TestCancelWhileWaiting cancels the context of a rank that already waits.
func TestCancelWhileWaiting(t *testing.T) {
	ranks := transport.Local(2)
	all := exchanges(t, ranks, 1, 8)
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(20*time.Millisecond, cancel)
	err := all[1].Run(ctx)
	require.ErrorIs(t, err, context.Canceled)
	assert.ErrorContains(t, err, "for 1 of 1 messages (8 bytes with tag 1 from rank 0); rank 0 is in no call: context canceled")
	err = all[0].Run(t.Context())
	assert.ErrorIs(t, err, context.Canceled)
	assert.ErrorContains(t, err, "rank 1 is lost: rank 1 waited")
}

// TestRunsDoNotAllocate: a steady run allocates nothing.
func TestRunsDoNotAllocate(t *testing.T) {
	ranks := transport.Local(2)
	all := exchanges(t, ranks, 1, 8)
	assert.Zero(t, testing.AllocsPerRun(100, func() {
		for _, e := range all {
			if e.Start() != nil {
				t.Fail()
			}
		}
		for _, e := range all {
			if e.Wait(context.Background()) != nil {
				t.Fail()
			}
		}
	}))
}

func TestOneCollectiveCallAtATime(t *testing.T) {
	ranks := transport.Local(2)
	first := make(chan error)
	go func() {
		_, err := ranks[0].Gather(t.Context(), nil)
		first <- err
	}()
	time.Sleep(10 * time.Millisecond)
	_, err := ranks[0].Freeze(nil)
	assert.ErrorContains(t, err, "rank 0 called Freeze during its Gather: collective calls follow one another")
	_, err = ranks[1].Gather(t.Context(), nil)
	assert.NoError(t, err)
	assert.NoError(t, <-first)
}
