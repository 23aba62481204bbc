package graphexec

import "github.com/reprise-gpu/reprise/device"

// mailbox is pinned memory in which a device leaves words for the host.
type mailbox struct {
	at    device.Ptr
	bytes []byte
}

func newMailbox(dev device.Device, bytes int64) (m mailbox, err error) {
	m.at, m.bytes, err = dev.AllocHost(bytes)
	return m, err
}

func (m *mailbox) close(dev device.Device) error {
	if m.at == 0 {
		return nil
	}
	at := m.at
	*m = mailbox{}
	return dev.Free(at)
}
