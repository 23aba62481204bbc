package sim

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/device"
)

// A device that is closed with long work under way leaves the host's time after it, so that other devices of the
// system, and those made later, can be given work.
func TestCloseWaitsInTheTimeOfTheHost(t *testing.T) {
	s := NewSystem()
	g := s.GPU(1 << 30)
	long := &device.Copy{Bytes: 16 << 20} // over the host link
	other := newUncheckedRig(t, Options{On: g})
	for range 2 {
		d := newUncheckedRig(t, Options{On: g})
		var err error
		long.Dst, err = d.Alloc(long.Bytes)
		d.ok(err)
		long.Src, _, err = d.AllocHost(long.Bytes)
		d.ok(err)
		before := s.Now()
		d.ok(d.Submit(d.streams[0], long))
		d.ok(d.Close())
		assert.Greater(t, s.Now()-before, 100*time.Microsecond)
		other.ok(other.Submit(other.streams[0], fillOf(other.buffers[0], 3)))
	}
	require.EqualValues(t, 3, other.word(other.buffers[0]))
}
