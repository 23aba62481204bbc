//go:build linux

package share_test

import (
	"context"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/sharing"
	"github.com/reprise-gpu/reprise/internal/sharing/wire"
	"github.com/reprise-gpu/reprise/share"
)

func serve(t *testing.T, p sharing.Policy) (*wire.Server, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "s")
	s, err := wire.Serve(path, wire.Options{Policy: p})
	require.NoError(t, err)
	return s, path
}

// TestRemotePrograms runs programs of two devices, as of two processes, under each policy of a server.
func TestRemotePrograms(t *testing.T) {
	for _, p := range policies() {
		server, path := serve(t, p)
		var wait sync.WaitGroup
		for i, name := range []string{"low", "high"} {
			dev := open(t)
			a := newAdding(t, dev, name, 5)
			r, err := share.Dial(dev, path, name, share.Priority(9*i), a.trace, a.trace)
			require.NoError(t, err)
			assert.Equal(t, share.Priority(9*i), r.Priority())
			a.clear(t)
			wait.Go(func() {
				for range 10 {
					assert.NoError(t, r.Replay(context.Background()))
				}
				assert.EqualError(t, r.Stage(context.Background(), 2), "share: the program has no stage 2: it has 2")
				assert.NoError(t, r.Close())
				assert.NoError(t, r.Close())
				live := dev.(device.Accounter).Live()
				assert.Zero(t, live.Streams+live.Events+live.Graphs+live.Execs+live.Lists)
			})
			t.Cleanup(func() { assert.Equal(t, 20*a.sum, a.value(t)) })
		}
		wait.Wait()
		require.NoError(t, server.Close())
	}
}

// TestRemoteStagesAreCancelled cancels stages at random moments, and runs one to its end.
func TestRemoteStagesAreCancelled(t *testing.T) {
	server, path := serve(t, sharing.NewFill(sharing.Fill{}))
	dev := open(t)
	a := newAdding(t, dev, "a", 20)
	r, err := share.Dial(dev, path, "a", 0, a.trace)
	require.NoError(t, err)
	for i := range 20 {
		ctx, cancel := context.WithTimeout(context.Background(), time.Duration(i)*50*time.Microsecond)
		if err := r.Replay(ctx); err != nil {
			assert.ErrorIs(t, err, context.DeadlineExceeded)
		}
		cancel()
	}
	a.clear(t)
	require.NoError(t, r.Replay(context.Background()))
	assert.Equal(t, a.sum, a.value(t))
	require.NoError(t, server.Close())
	assert.ErrorIs(t, r.Replay(context.Background()), share.ErrStopped)
	require.NoError(t, r.Close())
}

// TestDialWithoutServer checks the error.
func TestDialWithoutServer(t *testing.T) {
	dev := open(t)
	a := newAdding(t, dev, "a", 1)
	_, err := share.Dial(dev, filepath.Join(t.TempDir(), "none"), "a", 0, a.trace)
	assert.ErrorContains(t, err, "none")
	_, err = share.Dial(dev, "x", "a", 0)
	assert.ErrorContains(t, err, "has no stage")
}
