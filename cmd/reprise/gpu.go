package main

import (
	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/devices"
	"github.com/reprise-gpu/reprise/internal/sim"
)

// checkDevice checks an id before there is a reason to open it: GPUs are counted
// when they are opened.
func checkDevice(id string) error {
	if _, ok := devices.Ordinal(id); ok {
		return nil
	}
	_, err := lookupProfile(id)
	return err
}

// openAny opens the device of an id, a GPU or a simulated one. What o asks for only the
// simulator can do.
func openAny(id string, o sim.Options) (device.Device, error) {
	_, gpu := devices.Ordinal(id)
	switch {
	case !gpu:
		return openDevice(id, o)
	case o.Race == sim.RaceOn:
		return nil, usagef("--race needs a simulated device, and %s is none", id)
	case o.Sample > 0:
		return nil, usagef("--sample needs a simulated device, and %s is none", id)
	}
	return devices.Open(id, o)
}
