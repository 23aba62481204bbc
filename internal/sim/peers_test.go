package sim

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/device/devicetest"
	"github.com/reprise-gpu/reprise/internal/wrap"
)

// openPair opens two devices of a system.
func openPair(t *testing.T, o Options) (a, b *Device) {
	s := NewSystem()
	o.On = s.GPU(1 << 30)
	a = open(t, o)
	o.On = s.GPU(1 << 30)
	return a, open(t, o)
}

func TestConformanceOfPeers(t *testing.T) {
	for _, race := range []Race{RaceOff, RaceOn} {
		devicetest.RunPeers(t, func() (a, b device.Device) { return openPair(t, Options{Race: race}) }, nil)
	}
}

// Wrapped devices are peers, too, whichever of them is wrapped.
func TestConformanceOfWrappedPeers(t *testing.T) {
	through := func(_ *wrap.Call, next func() error) error { return next() }
	devicetest.RunPeers(t, func() (device.Device, device.Device) {
		a, b := openPair(t, Options{})
		return wrap.Intercept(wrap.Intercept(a, through), through), b
	}, nil)
}

func TestDevicesOfOtherSystemsAndOtherKindsAreNoPeers(t *testing.T) {
	a, _ := openPair(t, Options{})
	b := open(t, Options{})
	assert.False(t, a.CanPeer(b))
	assert.ErrorContains(t, a.EnablePeer(b), "EnablePeer: CUDA_ERROR_NOT_SUPPORTED (801): device sim:h200 is not a peer: it was not opened together with this device; copy through pinned memory instead")
	same := open(t, Options{On: a.gpu})
	assert.ErrorContains(t, a.EnablePeer(same), "it is on the same GPU")
	other := struct{ device.Device }{b}
	assert.ErrorContains(t, a.EnablePeer(other), "is of another implementation")
}
