//go:build !cuda || !cgo

package main

import (
	"fmt"

	"github.com/reprise-gpu/reprise/device"
)

// gpus returns an error: this build does not support GPUs.
func gpus() ([]device.Info, error) {
	return nil, fmt.Errorf("%w: this build only simulates; run `make build` in a clone, which needs a C compiler", device.ErrUnavailable)
}

func driver() driverState { return driverState{} }
