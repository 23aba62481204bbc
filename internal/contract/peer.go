package contract

import (
	"fmt"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/absent"
)

// Wrapper is a device that passes calls to another device.
type Wrapper interface{ Unwrap() device.Device }

// PeerOf returns the device of type D behind any wrappers. The error, with an empty Call, is InvalidValue for nil and
// NotSupported for a device of another implementation.
func PeerOf[D device.Device](other device.Device) (d D, err *device.Error) {
	for {
		if absent.Is(other) {
			return d, refuse(device.InvalidValue, "the other device is nil")
		}
		w, ok := other.(Wrapper)
		if !ok {
			break
		}
		other = w.Unwrap()
	}
	d, ok := other.(D)
	if !ok {
		return d, refuse(device.NotSupported, "device %s is of another implementation (%T); use devices that were opened together", other.Info().ID, other)
	}
	return d, nil
}

// NoPeer returns the error for a device, by its id, whose memory the call cannot access. why states the reason.
func NoPeer(id, why string) *device.Error {
	return refuse(device.NotSupported, "device %s is not a peer: %s; copy through pinned memory instead", id, why)
}

// NotEnabled returns the error for bytes of another device whose access was not enabled.
func NotEnabled(p device.Ptr, n int64, id string) *device.Error {
	return refuse(device.NotSupported, "%d bytes at %#x are memory of another device, %s: call EnablePeer first, or copy through pinned memory if the devices are not peers",
		n, uint64(p), id)
}

// NotOwn returns the error for a memset, a Read or a Write of bytes of another device.
func NotOwn(p device.Ptr, n int64, id string) *device.Error {
	return refuse(device.NotSupported, "%d bytes at %#x are memory of another device, %s, and only copies access it: call that device", n, uint64(p), id)
}

// ClosedPeer returns the error for another device that has been closed.
func ClosedPeer() *device.Error {
	return refuse(device.Deinitialized, "the other device has been closed")
}

// GonePeerEvent returns the error for an event of another device that a command list waits for.
func GonePeerEvent(command int) *device.Error {
	return &device.Error{Code: device.InvalidHandle, Detail: fmt.Sprintf("command %d waits for an event of another device that was destroyed", command)}
}
