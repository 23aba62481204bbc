package sim

import (
	"fmt"
	"time"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/device/model"
	"github.com/reprise-gpu/reprise/internal/des"
)

// WaitUntil advances the host's clock to t, for a host that was busy elsewhere, for example with another device. It
// has no effect if t has passed.
func (d *Device) WaitUntil(t time.Duration) {
	d.settled()
	d.host = max(d.host, model.Time(min(t, lastNanosecond))*model.Nanosecond)
}

// lastNanosecond is des.LastTime in nanoseconds.
const lastNanosecond = time.Duration(des.LastTime / model.Nanosecond)

// timeIsOver returns the fault for work that would end after the end of virtual time.
func timeIsOver(work any) *device.Error {
	name := "the device's work"
	if j, ok := work.(*job); ok {
		name = j.name()
	}
	return &device.Error{Code: device.LaunchTimeout,
		Detail: fmt.Sprintf("%s would end after %v of virtual time, the most that can be simulated: use smaller grids and copies, or a profile with higher rates", name, lastNanosecond.Truncate(time.Hour))}
}
