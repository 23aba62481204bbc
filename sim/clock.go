package sim

import (
	"fmt"
	"time"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/device/model"
)

// WaitUntil lets the host's clock pass until t: the host was busy with something
// else, another device for example. A time that has passed changes nothing.
func (d *Device) WaitUntil(t time.Duration) {
	d.settled()
	d.host = max(d.host, model.Time(min(t, lastNanosecond))*model.Nanosecond)
}

// lastNanosecond is des.LastTime in nanoseconds.
const lastNanosecond = time.Duration(model.LastTime / model.Nanosecond)

// timeIsOver is the fault of a device whose work would go on after virtual time has ended.
func timeIsOver(work any) *device.Error {
	name := "the device's work"
	if j, ok := work.(*job); ok {
		name = j.name()
	}
	return &device.Error{Code: device.LaunchTimeout,
		Detail: fmt.Sprintf("%s would end after %v of virtual time, the most that can be simulated: use smaller grids and copies, or a profile with higher rates", name, lastNanosecond.Truncate(time.Hour))}
}
