package parts

import "github.com/reprise-gpu/reprise/device"

// Mailbox is pinned memory in which a device leaves words for the host.
type Mailbox struct {
	At    device.Ptr
	Bytes []byte
}

// NewMailbox allocates a mailbox that holds the given number of bytes.
func NewMailbox(dev device.Device, bytes int64) (m Mailbox, err error) {
	m.At, m.Bytes, err = dev.AllocHost(bytes)
	return m, err
}

// Close frees the mailbox. Closing twice is harmless.
func (m *Mailbox) Close(dev device.Device) error {
	if m.At == 0 {
		return nil
	}
	at := m.At
	*m = Mailbox{}
	return dev.Free(at)
}
