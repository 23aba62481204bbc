package sim

import (
	"time"

	"github.com/reprise-gpu/reprise/internal/des"
)

// WaitUntil lets the host's clock pass until t: the host was busy with something
// else, another device for example. A time that has passed changes nothing.
func (d *Device) WaitUntil(t time.Duration) {
	d.settled()
	d.host = max(d.host, des.Time(t)*des.Nanosecond)
}
