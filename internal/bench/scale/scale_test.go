package scale

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/internal/bench/scale/programs"
	"github.com/reprise-gpu/reprise/internal/machine"
)

// sizes are sizes of all programs that divide among 8 devices.
var sizes = []string{"wave:96x128", "nbody:600", "rsim:128x8", "jacobi:98x4", "matmul:256x64x32"}

// run measures a program on a machine.
func run(t *testing.T, m *machine.Machine, program string, devices, execute int) Record {
	p, err := programs.Parse(program)
	require.NoError(t, err)
	rows, err := Run(context.Background(), Config{Programs: []*programs.Program{p}, Machine: m, Devices: []int{devices}, Execute: execute})
	require.NoError(t, err)
	require.Len(t, rows, 1)
	return rows[0]
}

func lookup(t *testing.T, name string) *machine.Machine {
	m, err := machine.Lookup(name)
	require.NoError(t, err)
	return m
}

// maxDeviation bounds the difference between the time of a step without execution and with it, relative to the latter. The
// greatest that occurs in docs/SCALING.md is 0.0011.
const maxDeviation = 0.01

// Timed runs take as long as executed ones, on machines whose devices are peers and on one whose devices are not.
func TestTimedRunsAreAccurate(t *testing.T) {
	for _, name := range []string{"a100-32x4", "rtx4090-4"} {
		m := lookup(t, name)
		for _, program := range sizes {
			for _, n := range []int{1, 2, 4, 8} {
				if n > m.Devices() || name != "a100-32x4" && n != 4 {
					continue
				}
				t.Run(fmt.Sprintf("%s on %d of %s", program, n, name), func(t *testing.T) {
					want, got := run(t, m, program, n, n), run(t, m, program, n, 0)
					assert.True(t, want.Executed && want.OK && want.MaxError != nil, "%+v", want)
					assert.True(t, !got.Executed && got.OK && got.MaxError == nil, "%+v", got)
					assert.Positive(t, want.StepUS)
					assert.Equal(t, want.Bytes, got.Bytes)
					assert.InEpsilon(t, want.StepUS, got.StepUS, maxDeviation)
				})
			}
		}
	}
}
