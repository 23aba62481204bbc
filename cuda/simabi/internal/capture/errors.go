package capture

import (
	"fmt"

	"github.com/reprise-gpu/reprise/device"
)

// The driver's codes for errors of captures.
const (
	IllegalState device.Code = 401 // the stream is captured already, or is not
	Unsupported  device.Code = 900 // not while a stream is captured
	Invalid      device.Code = 901 // an earlier call has invalidated the capture
	Merge        device.Code = 902 // of two captures
	Unmatched    device.Code = 903 // ended in another stream than it began in
	Unjoined     device.Code = 904 // a fork without a join
	Isolation    device.Code = 905 // a dependency on work outside the capture
	Implicit     device.Code = 906 // a dependency through the legacy stream
	Captured     device.Code = 907 // an event that was recorded in a capture
	WrongThread  device.Code = 908 // ended in another thread than it began in
)

func refuse(code device.Code, format string, args ...any) error {
	return &device.Error{Call: "capture", Code: code, Detail: fmt.Sprintf(format, args...)}
}

func (c *Capture) invalidated() error {
	return refuse(Invalid, "capture %d was invalidated by an earlier error; end it", c.ID)
}
