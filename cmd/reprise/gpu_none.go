//go:build !cuda

package main

import (
	"fmt"

	"github.com/reprise-gpu/reprise/device"
)

func openGPU(n int) (device.Device, error) {
	return nil, fmt.Errorf("gpu%d: %w: this build only simulates; build it with `make build`, which needs a C compiler", n, device.ErrUnavailable)
}

// gpus finds none: this build looks for none.
func gpus() ([]device.Info, error) {
	return nil, fmt.Errorf("%w: this build only simulates; build it with `make build`, which needs a C compiler", device.ErrUnavailable)
}

func driver() driverState { return driverState{} }
