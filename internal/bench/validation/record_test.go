package validation

import (
	"context"
	"encoding/binary"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/sim"
)

// realDevice is a simulated device that passes for a GPU. Its clock advances by a fixed step at each look, and it
// notes the work.
type realDevice struct {
	device.Device
	now      time.Duration
	step     time.Duration
	launches int
	first    []uint64 // the first argument of each launch and node, in order
	cleared  []int64  // bytes
	written  int      // bytes
}

func (d *realDevice) Info() device.Info {
	info := d.Device.Info()
	info.Simulated = false
	return info
}

func (d *realDevice) Now() time.Duration {
	d.now += d.step
	return d.now
}

func (d *realDevice) Submit(s device.Stream, w device.Work) error {
	switch w := w.(type) {
	case *device.Launch:
		d.launches++
		d.first = append(d.first, firstArgument(w))
	case *device.Memset:
		d.cleared = append(d.cleared, int64(w.Width)*w.Count)
	}
	return d.Device.Submit(s, w)
}

func (d *realDevice) AddNode(g device.Graph, deps []device.Node, w device.Work) (device.Node, error) {
	d.first = append(d.first, firstArgument(w.(*device.Launch)))
	return d.Device.AddNode(g, deps, w)
}

// firstArgument returns the first argument of a launch, or 0 if there is none.
func firstArgument(w *device.Launch) uint64 {
	return binary.LittleEndian.Uint64(append(w.Params[:len(w.Params):len(w.Params)], make([]byte, 8)...))
}

func (d *realDevice) Write(p device.Ptr, data []byte) error {
	d.written += len(data)
	return d.Device.Write(p, data)
}

// On a GPU buffers are cleared, and each row is repeated until the clock has risen and then as often as the recording
// says.
func TestRecordOnAGPU(t *testing.T) {
	s := setOf(t, "entry=move;grid=8;block=32;args=u8*1023 f32*256;mode=span;measured_us=70", "entry=move;grid=8;block=32;args=rand*256 f32*256;mode=cold")
	var devices []*realDevice
	o := Recording{
		Open: func(sample int64) (device.Device, error) {
			assert.Zero(t, sample)
			dev, err := sim.New(sim.Options{Profile: "v100"})
			devices = append(devices, &realDevice{Device: dev, step: 30 * time.Millisecond})
			return devices[len(devices)-1], err
		},
		Repeats: 5, GPU: "card", Profile: "v100",
	}
	rows, left, err := Record(context.Background(), s, "", o)
	require.NoError(t, err)
	require.Len(t, left, 1, "256 threads read 1024 bytes, and the buffer has 1023")
	require.Len(t, rows, 1)
	assert.Equal(t, "cold", rows[0].Mode.String())
	assert.Equal(t, LaunchClass, rows[0].Class)

	require.Len(t, devices, 2, "each row has a device of its own")
	assert.Equal(t, []int64{1023, 1024}, devices[0].cleared)
	// Three looks at the clock pass before 0.1 s are over: three measurements that do not count, of two launches and a
	// flush each, and five that do.
	d := devices[1]
	assert.Equal(t, 1024, d.written)
	assert.Equal(t, 2*(3+5), d.launches)
	flush := 2 * d.Info().L2Bytes
	assert.Equal(t, []int64{1024, flush, flush, flush, flush, flush, flush, flush, flush}, d.cleared)
}

// A GPU has no time line.
func TestSpansNeedASimulatedDevice(t *testing.T) {
	s := setOf(t, "entry=idle")
	dev, err := sim.New(sim.Options{})
	require.NoError(t, err)
	defer dev.Close()
	c, err := prepare(&realDevice{Device: dev}, s, &s.Rows[0])
	require.NoError(t, err)
	_, err = c.measure(Mode{Kind: kindSpan})
	assert.ErrorIs(t, err, errNoProfiler)
}

// Buffers have the contents that their arguments say, also where the host has to write them.
func TestArgumentsHaveTheirContents(t *testing.T) {
	s := setOf(t, "entry=move;args=chain*3 rand*4")
	dev, err := sim.New(sim.Options{})
	require.NoError(t, err)
	defer dev.Close()
	c, err := prepare(dev, s, &s.Rows[0])
	require.NoError(t, err)
	chain := binary.LittleEndian.Uint64(c.launch[0].Params)
	random := binary.LittleEndian.Uint64(c.launch[0].Params[8:])
	assert.Equal(t, random, binary.LittleEndian.Uint64(c.launch[1].Params), "exchanged")
	assert.Equal(t, chain, binary.LittleEndian.Uint64(c.launch[1].Params[8:]))
	word := make([]byte, 8)
	seen := map[uint64]bool{}
	for at := chain; !seen[at]; at = binary.LittleEndian.Uint64(word) {
		seen[at] = true
		require.NoError(t, dev.Read(word, device.Ptr(at)))
	}
	assert.Equal(t, map[uint64]bool{chain: true, chain + 64: true, chain + 128: true}, seen)
	require.NoError(t, dev.Read(word, device.Ptr(random)))
	assert.Equal(t, uint64(8748534153485358512), binary.LittleEndian.Uint64(word))
}

// Every second launch exchanges the first two arguments in the modes that say so.
func TestModesThatExchangeArguments(t *testing.T) {
	s := setOf(t, "entry=move;args=f32*32 f32*32")
	for mode, want := range map[string]string{
		"stream:3": "aa aaa", "pingpong:3": "ab aba", "graph:4": "abab", "host:2": "a aa", "cold": "a a",
	} {
		dev, err := sim.New(sim.Options{})
		require.NoError(t, err)
		defer dev.Close()
		d := &realDevice{Device: dev}
		c, err := prepare(d, s, &s.Rows[0])
		require.NoError(t, err)
		m, err := parseMode(mode)
		require.NoError(t, err)
		_, err = c.measure(m)
		require.NoError(t, err, mode)
		var got []byte
		for _, p := range d.first {
			got = append(got, map[uint64]byte{firstArgument(c.launch[0]): 'a', firstArgument(c.launch[1]): 'b'}[p])
		}
		assert.Equal(t, strings.ReplaceAll(want, " ", ""), string(got), mode)
	}
}
