package main

import (
	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/devices"
	"github.com/reprise-gpu/reprise/internal/sim"
)

// checkDevice checks the form of an id without opening the device. Whether a GPU of that number exists is checked when
// it is opened.
func checkDevice(id string) error {
	if _, ok := devices.Ordinal(id); ok {
		return nil
	}
	_, err := lookupProfile(id)
	return err
}

// openAny opens the device of an id, a GPU or a simulated one. It returns an error if o contains options of the
// simulator and the device is a GPU.
func openAny(id string, o sim.Options) (device.Device, error) {
	_, gpu := devices.Ordinal(id)
	switch {
	case !gpu:
		return openDevice(id, o)
	case o.Race == sim.RaceOn:
		return nil, usagef("--race requires a simulated device, and %s is a GPU", id)
	case o.Sample > 0:
		return nil, usagef("--sample requires a simulated device, and %s is a GPU", id)
	}
	return devices.Open(id, o)
}
