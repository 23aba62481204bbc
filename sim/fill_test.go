package sim_test

import "github.com/reprise-gpu/reprise/device"

// fillTwice fills the same bytes in two streams, in no order, and returns the error of waiting for both.
func fillTwice(dev device.Device) error {
	p, err := dev.Alloc(256)
	if err != nil {
		return err
	}
	for value := range uint32(2) {
		s, err := dev.CreateStream(0)
		if err != nil {
			return err
		}
		if err := dev.Submit(s, &device.Memset{Dst: p, Value: value, Width: 4, Count: 64}); err != nil {
			return err
		}
	}
	return dev.SynchronizeAll()
}
