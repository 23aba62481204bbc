//go:build cuda && cgo

package cuda

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/device"
)

// TestCompilerErrorNamesTheFile parses a log of the driver's compiler, with its spacing.
func TestCompilerErrorNamesTheFile(t *testing.T) {
	log := []byte("ptxas application ptx input, line 6; error   : Not a name of any known instruction: 'bogus'\n" +
		"ptxas fatal   : Ptx assembly aborted due to errors\n\x00\x00")
	assert.Equal(t, "module a$1.ptx: a$1.ptx:6: error   : Not a name of any known instruction: 'bogus'\n"+
		"ptxas fatal   : Ptx assembly aborted due to errors", compilerError("a$1.ptx", "invalid", log))
	assert.Equal(t, "module a.ptx: invalid", compilerError("a.ptx", "invalid", make([]byte, 8)))
}

// TestParametersAreCounted expects errors for parameter blocks of a wrong size without a call of the driver, which may
// read past the end of a block that is too short.
func TestParametersAreCounted(t *testing.T) {
	d := open(t)
	defer d.Close()
	m, err := d.LoadModule("two.ptx", ".version 7.0\n.target sm_60\n.address_size 64\n"+
		".visible .entry two(.param .u8 a, .param .u64 b) { ret; }\n.visible .entry none() { ret; }\n")
	require.NoError(t, err)
	s, err := d.CreateStream(0)
	require.NoError(t, err)
	for name, want := range map[string]string{"two": "kernel two: 12 bytes of parameters; it takes 16", "none": "kernel none: 12 bytes of parameters; it takes 0"} {
		f, err := d.Function(m, name)
		require.NoError(t, err)
		l := device.Launch{Function: f, Grid: device.Dim3{X: 1, Y: 1, Z: 1}, Block: device.Dim3{X: 1, Y: 1, Z: 1}, Params: make([]byte, 12)}
		require.ErrorContains(t, d.Submit(s, &l), want)
	}
	require.NoError(t, d.Synchronize(s))
}
