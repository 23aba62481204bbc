package main

import (
	"strconv"
	"strings"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/sim"
)

// gpuOrdinal is the number in the id of a GPU, "gpu0".
func gpuOrdinal(id string) (int, bool) {
	digits, ok := strings.CutPrefix(id, "gpu")
	if !ok {
		return 0, false
	}
	n, err := strconv.ParseUint(digits, 10, 16)
	return int(n), err == nil
}

// checkDevice checks an id before there is a reason to open it: GPUs are counted
// when they are opened.
func checkDevice(id string) error {
	if _, ok := gpuOrdinal(id); ok {
		return nil
	}
	_, err := lookupProfile(id)
	return err
}

// openAny opens the device of an id, a GPU or a simulated one. What o asks for only the
// simulator can do.
func openAny(id string, o sim.Options) (device.Device, error) {
	n, ok := gpuOrdinal(id)
	switch {
	case !ok:
		return openDevice(id, o)
	case o.Race == sim.RaceOn:
		return nil, usagef("--race needs a simulated device, and %s is none", id)
	case o.Sample > 0:
		return nil, usagef("--sample needs a simulated device, and %s is none", id)
	}
	return openGPU(n)
}
