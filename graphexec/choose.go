package graphexec

import (
	"fmt"

	"github.com/reprise-gpu/reprise/device"
)

// choose takes the device's own loop where there is one: nothing crosses to the host and
// back between its iterations.
func (x *LoopExec) choose() error {
	w := &while{x: x, size: x.loop.Batch}
	err := w.build()
	if err == nil {
		x.form, x.chose, x.why = w, WhileNode, "the device decides by itself, without the host"
		return nil
	}
	if left := w.close(); left != nil || device.CodeOf(err) != device.NotSupported {
		return device.Join(err, left)
	}
	x.form, x.chose, x.why = x.host, HostChecked, fmt.Sprintf("there can be no while node: %v", err)
	return nil
}
