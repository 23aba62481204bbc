package wrap_test

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/null"
	"github.com/reprise-gpu/reprise/internal/wrap"
)

// plain is a device without abilities.
type plain struct{ device.Device }

func TestPeersOfWrappedDevices(t *testing.T) {
	list := null.NewPeers(2)
	var log bytes.Buffer
	a, b := wrap.Logging(list[0], &log), wrap.Logging(list[1], &bytes.Buffer{})
	assert.True(t, a.(device.Peer).CanPeer(b))
	s, _ := a.CreateStream(0)
	e, _ := b.CreateEvent()
	assert.NoError(t, a.(device.Peer).EnablePeer(b))
	assert.NoError(t, a.(device.Peer).WaitPeer(s, b, e))
	_, err := a.CompileCommands([]device.Command{{Kind: device.AwaitPeer, Stream: s, Event: e, Peer: b}})
	assert.NoError(t, err)
	assert.Error(t, a.(device.Peer).EnablePeer(nil))
	assert.Equal(t, `CreateStream(0) = stream1
EnablePeer(device null)
WaitPeer(stream1, event 1 of device null)
CompileCommands([stream1 awaits event 1 of device null]) = list1
EnablePeer(no device) = CUDA_ERROR_INVALID_VALUE
`, log.String())
	alone := wrap.Logging(plain{null.New()}, &log).(device.Peer)
	assert.False(t, alone.CanPeer(b))
	assert.Equal(t, device.NotSupported, device.CodeOf(alone.EnablePeer(b)))
	assert.Equal(t, device.NotSupported, device.CodeOf(alone.WaitPeer(s, b, e)))
}
