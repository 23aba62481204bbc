//go:build cuda && cgo

package devices

import (
	"errors"
	"fmt"

	"github.com/reprise-gpu/reprise/cuda"
	"github.com/reprise-gpu/reprise/device"
)

func openGPU(n int) (device.Device, error) {
	d, err := cuda.Open(n)
	if errors.Is(err, device.ErrUnavailable) {
		return nil, fmt.Errorf("%w (see reprise doctor)", err)
	}
	if err != nil {
		return nil, err
	}
	return d, nil
}
