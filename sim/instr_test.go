package sim

import (
	"os"
	"strings"
	"testing"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/device/devicetest"
)

// TestInstructions runs one small PTX file per instruction: bytes in, bytes out.
func TestInstructions(t *testing.T) {
	var out strings.Builder
	printed := func() string {
		defer out.Reset()
		return out.String()
	}
	devicetest.Instructions(t, func() device.Device { return open(t, Options{Race: RaceOn, Stdout: &out}) }, os.DirFS("testdata/instr"), devicetest.Options{Printed: printed})
}
