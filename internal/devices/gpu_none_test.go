//go:build !cuda || !cgo

package devices

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/sim"
)

func TestNoGPUWithoutTheTag(t *testing.T) {
	_, err := Open("gpu0", sim.Options{})
	assert.ErrorIs(t, err, device.ErrUnavailable)
	assert.ErrorContains(t, err, "-tags cuda")
	assert.ErrorContains(t, err, "`reprise cgo-env`")
}
