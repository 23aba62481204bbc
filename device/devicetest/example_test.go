package devicetest_test

import (
	"testing"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/device/devicetest"
	"github.com/reprise-gpu/reprise/sim"
)

// ExampleRun is the test of an implementation. It lists each behaviour that the implementation lacks, with the reason.
func ExampleRun() {
	_ = func(t *testing.T) { // func TestDevice(t *testing.T)
		devicetest.Run(t, func() device.Device {
			dev, err := sim.New(sim.Options{})
			if err != nil {
				t.Fatal(err)
			}
			return dev
		}, nil)
	}
	// Output:
}
