package tracer

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/null"
)

// nothing is a device type that is used as a nil pointer: its methods panic.
type nothing struct{ device.Device }

func TestANilPointerIsNoDevice(t *testing.T) {
	var none *nothing
	assert.False(t, sameDevice(none, null.New()))
	assert.False(t, sameDevice(null.New(), none))
	assert.False(t, sameDevice(none, none))
}
