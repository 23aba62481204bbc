//go:build cuda && cgo

package simabi

import (
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// power initializes the driver as cuInit does, for one test.
func power(t *testing.T, profiles string) {
	t.Setenv("REPRISE_SIM", profiles)
	gpus, err := plug()
	require.NoError(t, err)
	driver.ready, driver.gpus = true, gpus
	t.Cleanup(func() { driver.ready, driver.gpus = false, nil })
}

// TestThreadsThatEndLeaveNothing starts and ends OS threads: a thread ends with a goroutine that
// is locked to it.
func TestThreadsThatEndLeaveNothing(t *testing.T) {
	power(t, "h200")
	const many = 100
	var most int
	for range many {
		done := make(chan int)
		go func() {
			runtime.LockOSThread()
			driver.mu.Lock()
			defer driver.mu.Unlock()
			current()
			done <- len(callers)
		}()
		most = max(most, <-done)
	}
	require.Eventually(t, func() bool { // threads end a moment after their goroutine
		live := make(chan int)
		go func() {
			runtime.LockOSThread()
			driver.mu.Lock()
			defer driver.mu.Unlock()
			current()
			live <- len(callers)
		}()
		return <-live < many/10
	}, 10*time.Second, time.Millisecond, "of %d threads there were %d at a time", many, most)
}

func TestContextTakesAlongWhatIsInIt(t *testing.T) {
	power(t, "h200")
	a, err := newContext(driver.gpus[0], 0)
	require.NoError(t, err)
	b, err := newContext(driver.gpus[0], 0)
	require.NoError(t, err)
	for _, c := range []*context{a, b} {
		m, err := c.load("m", []byte(".version 7.0\n.target sm_52\n.address_size 64\n.visible .entry k() { ret; }"), nil)
		require.NoError(t, err)
		_, err = m.function("k")
		require.NoError(t, err)
	}
	require.Len(t, modules.live, 2)
	require.Len(t, functions.live, 2)
	a.close()
	require.Len(t, modules.live, 1)
	require.Len(t, functions.live, 1)
	b.close()
	require.Empty(t, modules.live)
	require.Empty(t, functions.live)
}
