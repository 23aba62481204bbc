package sentinel_test

import (
	"io"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/reprise-gpu/reprise/internal/sentinel"
)

func TestErrorsKeepTheirText(t *testing.T) {
	closed := sentinel.New(sentinel.ErrClosed, "the pool is closed")
	assert.EqualError(t, closed, "the pool is closed")
	assert.ErrorIs(t, closed, sentinel.ErrClosed)
	assert.NotErrorIs(t, closed, sentinel.ErrBusy)

	read := sentinel.Errorf(sentinel.ErrUnknown, "read %s: %w", "x", io.EOF)
	assert.EqualError(t, read, "read x: EOF")
	assert.ErrorIs(t, read, io.EOF)
	assert.ErrorIs(t, read, sentinel.ErrUnknown)
}
