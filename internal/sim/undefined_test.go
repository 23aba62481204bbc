package sim

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/device"
)

// TestModulesMustBeComplete: a driver refuses a module that nothing completes when it is
// loaded, not when it runs.
func TestModulesMustBeComplete(t *testing.T) {
	const head = ".version 7.0\n.target sm_52\n.address_size 64\n"
	d, err := New(Options{})
	require.NoError(t, err)
	for want, text := range map[string]string{
		"m:4:15: undefined reference to function f": head + ".extern .func f();\n.visible .entry k() { call f; ret; }",
		"undefined reference to variable v":         head + ".extern .global .u32 v;",
	} {
		_, err := d.LoadModule("m", text)
		require.ErrorContains(t, err, want)
		require.Equal(t, device.InvalidPTX, device.CodeOf(err))
	}
	_, err = d.LoadModule("m", head+".extern .shared .b8 s[];\n.extern .func (.param .b64 r) malloc(.param .b64 n);")
	require.NoError(t, err)
	require.NoError(t, d.Close())
}
