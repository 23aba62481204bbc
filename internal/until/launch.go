package until

import (
	"encoding/binary"

	"github.com/reprise-gpu/reprise/device"
)

// Launch returns the launch of a kernel of PTX: one thread, with a condition, addresses and the last parameters that
// Kernel or BranchKernel returned.
func Launch(f device.Function, label string, c device.Condition, addresses []device.Ptr, test []byte) *device.Launch {
	params := binary.LittleEndian.AppendUint64(nil, uint64(c))
	for _, p := range addresses {
		params = binary.LittleEndian.AppendUint64(params, uint64(p))
	}
	one := device.Dim3{X: 1, Y: 1, Z: 1}
	return &device.Launch{Function: f, Grid: one, Block: one, Params: append(params, test...), Label: label}
}
