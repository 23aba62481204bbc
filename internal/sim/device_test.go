package sim

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/device/devicetest"
)

func open(t *testing.T, o Options) *Device {
	t.Helper()
	d, err := New(o)
	require.NoError(t, err)
	return d
}

func TestConformance(t *testing.T) {
	devicetest.Run(t, func() device.Device { return open(t, Options{Race: RaceOn}) }, nil)
}

func TestConformanceWithoutMemo(t *testing.T) {
	devicetest.Run(t, func() device.Device { return open(t, Options{Memo: MemoOff, Race: RaceOn}) }, nil)
}

func TestUnknownProfile(t *testing.T) {
	_, err := New(Options{Profile: "h2000"})
	assert.ErrorContains(t, err, `sim: no device profile is called "h2000" (did you mean "h200"?); known profiles: h200, a100, v100, p100, gtx1660s, gtx960; from data sheets: `)
	assert.ErrorContains(t, err, `; or the path of a file that ends in .json`)
}

func TestProfilesDiffer(t *testing.T) {
	for id, sms := range map[string]int{"": 132, "h200": 132, "a100": 108, "v100": 80, "p100": 56, "gtx1660s": 22, "gtx960": 8} {
		info := open(t, Options{Profile: id}).Info()
		assert.Equal(t, sms, info.Multiprocessors, id)
		assert.True(t, info.Simulated)
	}
}
