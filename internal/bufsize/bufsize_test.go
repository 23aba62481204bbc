package bufsize_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/reprise-gpu/reprise/internal/bufsize"
)

// bytes is a type whose elements have that number of bytes.
type bytes int64

func (b bytes) Size() int64    { return int64(b) }
func (b bytes) String() string { return "bytes" }

func TestOneBufferHasAtMostMaxBytes(t *testing.T) {
	assert.NoError(t, bufsize.Check(bytes(8), 0))
	assert.NoError(t, bufsize.Check(bytes(8), bufsize.Max/8))
	assert.ErrorContains(t, bufsize.Check(bytes(8), bufsize.Max/8+1), "more than the 2^48 bytes")
	assert.ErrorContains(t, bufsize.Check(bytes(8), 1<<62), "more than the 2^48 bytes")
	assert.ErrorContains(t, bufsize.Check(bytes(8), -1), "cannot be negative")
	assert.ErrorContains(t, bufsize.Check(bytes(0), 1), "unknown type bytes")
}

func TestAllBuffersHaveAtMostMaxBytesTogether(t *testing.T) {
	var total bufsize.Total
	assert.NoError(t, total.Add("x", bytes(1), bufsize.Max))
	assert.NoError(t, total.Add("y", bytes(1), 0))
	assert.ErrorContains(t, total.Add("z", bytes(1), 1), "buffer @z and those before it")
	assert.ErrorContains(t, total.Add("w", bytes(1), -1), "buffer @w has -1 elements")
}
