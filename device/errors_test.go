package device

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestJoinReportsAFaultOnce(t *testing.T) {
	fault := &Fault{Kernel: "k"}
	first := &Error{Call: "Synchronize", Code: IllegalAddress, Fault: fault}
	err := Join(first, (&Error{Code: IllegalAddress, Fault: fault}).In("DestroyStream"), nil, &Error{Call: "Free", Code: InvalidValue}, &Error{Call: "Free", Code: IllegalAddress, Fault: &Fault{Kernel: "j"}})
	assert.Equal(t, 3, strings.Count(err.Error(), "\n")+1)
	assert.Equal(t, 1, strings.Count(err.Error(), "kernel k"))
	assert.NoError(t, Join(nil, nil))
}

func TestErrorText(t *testing.T) {
	cause := errors.New("cause")
	err := error(&Error{Call: "Synchronize", Code: IllegalAddress, Err: cause,
		Fault: &Fault{Kernel: "k", Label: "step", Block: [3]uint32{1, 2, 3}, File: "k.ptx", Line: 9, Reason: "why"}})
	assert.EqualError(t, err, "Synchronize: CUDA_ERROR_ILLEGAL_ADDRESS (700): kernel k (step), block (1,2,3), thread (0,0,0), k.ptx:9: why: cause")
	assert.ErrorIs(t, err, cause)
	refused := &Fault{Kernel: "k", Refused: true, File: "k.ptx", Line: 9, Source: "k.cu:3", Reason: "why"}
	assert.Equal(t, "kernel k, k.ptx:9 (k.cu:3): why", refused.String())
	assert.Equal(t, IllegalAddress, CodeOf(fmt.Errorf("outer: %w", err)))
	assert.Zero(t, CodeOf(cause))
	assert.Equal(t, "CUDA_ERROR(12345)", Code(12345).String())
}

func TestInKeepsNilNil(t *testing.T) {
	var none *Error
	assert.NoError(t, none.In("Free"))
	assert.EqualError(t, (&Error{Code: InvalidValue}).In("Free"), "Free: CUDA_ERROR_INVALID_VALUE (1)")
}

// A sticky error without a fault is repeated by every later call, too.
func TestJoinReportsAStickyErrorOnce(t *testing.T) {
	lost := func(call string) error { return &Error{Call: call, Code: DeviceUnavailable} }
	err := Join(lost("Synchronize"), lost("Free"), &Error{Call: "Free", Code: OutOfMemory}, &Error{Call: "Free", Code: OutOfMemory})
	assert.Equal(t, 3, strings.Count(err.Error(), "\n")+1)
	assert.True(t, LaunchFailed.Sticky())
	assert.False(t, OutOfMemory.Sticky())
}
