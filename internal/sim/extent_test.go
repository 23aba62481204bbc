package sim

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/device"
)

// Sizes are compared with the limits before any memory is taken: the code says which
// limit, the device's memory is as before, and the host has not taken any either.
func TestModuleOfAnySize(t *testing.T) {
	d := open(t, Options{Profile: "h200", Race: RaceOn})
	for _, test := range []struct {
		vars, body string
		code       device.Code
		says       string
	}{
		{".shared .b8 v[49152];", "st.shared.u8 [v], %r1;", 0, ""},
		{".shared .b8 v[4294967296];", "st.shared.u8 [v], %r1;", device.InvalidPTX, "take 4294967296 bytes"},
		{".shared .b8 v[4294967297];", "st.shared.u8 [v], %r1;", device.InvalidPTX, "take 4294967297 bytes"},
		{".const .b8 v[65536];", "", 0, ""},
		{".const .b8 v[65537];", "", device.InvalidPTX, "a module has 65536"},
		{"", ".local .b8 v[524288];", 0, ""},
		{"", ".local .b8 v[524289];", device.InvalidPTX, "a thread has 524288"},
		{"", ".local .b8 v[1099511627776];", device.InvalidPTX, "a thread has 524288"},
		{"", ".param .b8 v[1099511627776];", device.InvalidPTX, "a thread has 524288"},
		{".global .b8 v[1099511627776];", "", device.OutOfMemory, "up to v take 1099511627776 bytes"},
		{".global .b8 v[140000000000], w[140000000000];", "", device.OutOfMemory, "up to w take 280000000000 bytes"},
		{".global .b8 v[1099511627776][1099511627776];", "", device.InvalidPTX, "larger than"},
		{".global .b8 v[2][1073741824] = {{1}, {2}};", "", device.InvalidPTX, "initial values"},
		{".global .b8 v[1073741824] = {1, 2};", "", 0, ""},
		{".global .b8 v[100000000000];", "", 0, ""},
		{".global .u32 v; .global .u32 w = v;", "", 0, ""},
		{".global .u64 v; .global .u8 w[2] = {0xFF(v), 0xFF00(v)};", "", 0, ""},
	} {
		free := d.memory.Used()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		text := fmt.Sprintf(".version 7.8\n.target sm_80\n.address_size 64\n%s\n.visible .entry k() { .reg .b32 %%r<3>; %s ret; }\n", test.vars, test.body)
		m, err := d.LoadModule("m.ptx", text)
		runtime.ReadMemStats(&after)
		if test.code == 0 {
			require.NoError(t, err, text)
			require.NoError(t, d.UnloadModule(m))
		} else {
			var e *device.Error
			require.ErrorAs(t, err, &e, text)
			assert.Equal(t, test.code, e.Code, text)
			assert.ErrorContains(t, err, test.says)
		}
		now := d.memory.Used()
		assert.Equal(t, free, now, text)
		assert.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(64<<20), text)
	}
}
