//go:build cuda && cgo

package cuda

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/device"
)

func TestOldDriversSayWhatTheyLack(t *testing.T) {
	err := has(99990, "what is to come")
	require.NotNil(t, err)
	assert.Equal(t, device.NotSupported, err.Code)
	assert.Contains(t, err.Detail, "and what is to come came with 99.99; update the driver")
	assert.Nil(t, has(11000, "what has long been there"))
}
