package mpi

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/internal/transport"
)

// controls connects the controls of n ranks in this process.
func controls(t *testing.T, n int, o transport.Options) []*control {
	t.Helper()
	all, ranks := make([]*control, n), transport.Local(n)
	var opened sync.WaitGroup
	for r := range all {
		all[r] = newControl(r, n, o.WithDefaults(), func() string { return fmt.Sprintf("call %d", r) })
		opened.Go(func() {
			gather := func(mine []byte) ([][]byte, error) { return ranks[r].Gather(t.Context(), mine) }
			assert.NoError(t, all[r].connect(t.Context(), gather))
		})
	}
	opened.Wait()
	require.False(t, t.Failed())
	for _, c := range all {
		c.serve()
		t.Cleanup(c.close)
	}
	return all
}

// expectFailure waits until all controls but one have failed with an error about a rank.
func expectFailure(t *testing.T, all []*control, but, rank int, text string) {
	t.Helper()
	for r, c := range all {
		if r == but {
			continue
		}
		select {
		case <-c.failed:
			assert.Equal(t, rank, c.failure().Rank, "on rank %d: %v", r, c.failure())
			assert.ErrorContains(t, c.failure(), text, "on rank %d", r)
		case <-time.After(10 * time.Second):
			t.Fatalf("rank %d has no failure", r)
		}
	}
}

// cut closes the connections of a rank, as the end of its process does.
func cut(c *control) {
	c.endOnce.Do(func() { close(c.ended) })
	c.disconnect()
}

func TestAnEndedProcessIsLost(t *testing.T) {
	for victim := range 4 {
		all := controls(t, 4, transport.Options{})
		cut(all[victim])
		expectFailure(t, all, victim, victim, fmt.Sprintf("rank %d is lost: its process ended", victim))
	}
}

func TestASilentProcessIsLost(t *testing.T) {
	for _, victim := range []int{0, 2} {
		all := controls(t, 3, transport.Options{Lease: 400 * time.Millisecond})
		for _, l := range all[victim].links {
			if l != nil {
				l.mu.Lock() // it sends nothing
				defer l.mu.Unlock()
			}
		}
		expectFailure(t, all, victim, victim, fmt.Sprintf("rank %d is lost: it gave no sign of life for 400ms", victim))
	}
}

func TestSignsOfLifeKeepTheLease(t *testing.T) {
	all := controls(t, 3, transport.Options{Lease: 400 * time.Millisecond})
	time.Sleep(time.Second)
	for _, c := range all {
		select {
		case <-c.failed:
			t.Error(c.failure())
		default:
		}
	}
}

func TestFailuresAreForwarded(t *testing.T) {
	reasons := []error{errors.New("the matrix has no inverse"), fmt.Errorf("so: %w", context.Canceled), transport.ErrStalled}
	for from, reason := range reasons {
		all := controls(t, 3, transport.Options{})
		all[from].fail(&transport.LostError{Rank: from, Err: reason}, -1)
		expectFailure(t, all, -1, from, reason.Error())
		for _, c := range all {
			assert.Equal(t, from == 1, errors.Is(c.failure(), context.Canceled))
			assert.Equal(t, from == 2, errors.Is(c.failure(), transport.ErrStalled))
		}
	}
}

// TestFarewells: a rank that has closed is not lost, and all learn how far it came.
func TestFarewells(t *testing.T) {
	all := controls(t, 3, transport.Options{})
	for r, c := range all {
		c.leave(departure{r, farewell{Collectives: r, Runs: []int{7}}}, -1)
	}
	for _, c := range all {
		<-c.allClosed
		assert.Equal(t, &farewell{Collectives: 1, Runs: []int{7}}, c.farewell(1))
	}
	cut(all[1])
	time.Sleep(50 * time.Millisecond)
	for _, c := range all {
		assert.Nil(t, c.failure())
	}
}

func TestActivitiesOfAllRanks(t *testing.T) {
	all := controls(t, 3, transport.Options{Lease: 200 * time.Millisecond})
	for _, c := range all {
		assert.Eventually(t, func() bool { return assert.ObjectsAreEqual([]string{"call 0", "call 1", "call 2"}, c.everyActivity()) },
			5*time.Second, 50*time.Millisecond)
	}
}

// TestStrangersAreRefused connects to rank 0 without the token, and with a rank that does not exist.
func TestStrangersAreRefused(t *testing.T) {
	listener, i := invite()
	require.Empty(t, i.Error)
	c := newControl(0, 2, transport.Options{}.WithDefaults(), func() string { return "" })
	done := make(chan error)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	go func() { done <- c.accept(ctx, listener, i.Token) }()
	for _, text := range [][]byte{nil, make([]byte, 20), append(i.Token[:], 9, 0, 0, 0), append(i.Token[:], 1, 0, 0, 0)} {
		conn, err := net.DialTCP("tcp", nil, listener.Addr().(*net.TCPAddr))
		require.NoError(t, err)
		_, _ = conn.Write(text)
		require.NoError(t, conn.CloseWrite())
		defer conn.Close()
	}
	assert.NoError(t, <-done)
	assert.NotNil(t, c.links[1])
	c.disconnect()
}

// TestConnectFailsOnAllRanks: rank 2 cannot connect, and all return the same error.
func TestConnectFailsOnAllRanks(t *testing.T) {
	const n = 3
	ranks := transport.Local(n)
	var all sync.WaitGroup
	for r := range n {
		all.Go(func() {
			c := newControl(r, n, transport.Options{Lease: 300 * time.Millisecond}.WithDefaults(), func() string { return "" })
			err := c.connect(t.Context(), func(mine []byte) ([][]byte, error) {
				parts, err := ranks[r].Gather(t.Context(), mine)
				if r == 2 && mine == nil { // the first gather
					parts[0] = []byte(`{"Error":"no port is free"}`)
				}
				return parts, err
			})
			assert.ErrorContains(t, err, "rank 0: 1 of 2 ranks did not connect to it by TCP within 300ms")
			assert.ErrorContains(t, err, "; rank 2: rank 0 cannot listen on a TCP port: no port is free")
		})
	}
	all.Wait()
}
