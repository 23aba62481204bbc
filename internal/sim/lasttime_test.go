package sim

import (
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/des"
)

// TestWorkOfMonthsIsAFault samples launches of as many blocks as a grid has. They would take years.
func TestWorkOfMonthsIsAFault(t *testing.T) {
	r := newUncheckedRig(t, Options{Sample: 1})
	r.ok(r.Write(r.buffers[1], binary.LittleEndian.AppendUint64(nil, uint64(r.buffers[2]))))
	l := one(r.function(oddKernels, "pick"), r.buffers[0], r.buffers[1])
	l.Grid = device.Dim3{X: 1<<31 - 1, Y: 1<<16 - 1, Z: 1<<16 - 1}
	for range 3 {
		r.ok(r.Submit(r.streams[0], l))
	}
	err := r.SynchronizeAll()
	require.Error(t, err)
	assert.Equal(t, device.LaunchTimeout, device.CodeOf(err))
	assert.ErrorContains(t, err, "launch of pick would end after 1281h0m0s of virtual time")
	assert.Equal(t, des.LastTime, r.engine.Now())
	assert.Error(t, r.Submit(r.streams[0], l), "the fault stays")
}
