package sim

import (
	"os"
	"testing"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/device/devicetest"
)

// TestInstructions runs one small PTX file per instruction: bytes in, bytes out.
func TestInstructions(t *testing.T) {
	devicetest.Instructions(t, func() device.Device { return open(t, Options{Race: RaceOn}) }, os.DirFS("testdata/instr"), devicetest.Options{})
}
