//go:build !cuda || !cgo

package devices

import (
	"fmt"

	"github.com/reprise-gpu/reprise/device"
)

func openGPU(n int) (device.Device, error) {
	return nil, fmt.Errorf("gpu%d: %w: this build only simulates; build it with -tags cuda and the variables that `reprise cgo-env` or, in a clone, `make cgo-env` prints, which need a C compiler", n, device.ErrUnavailable)
}
