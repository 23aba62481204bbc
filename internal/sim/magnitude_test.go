package sim_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/reprise-gpu/reprise/internal/section"
	"github.com/reprise-gpu/reprise/internal/texel"

	"github.com/stretchr/testify/require"
)

// magnitude is a kernel whose speed on real devices is known well enough to say
// what is absurd: the value must lie in the range of each profile.
type magnitude struct {
	name, unit string
	sample     int64 // of each launch; 0 is all blocks
	value      func(s *stopwatch) float64
	lo, hi     [devices]float64 // by profile, in the order of magnitudeProfiles
}

const million = 1 << 20

var magnitudeProfiles = [devices]string{"h200", "a100", "v100", "p100", "gtx1660s", "gtx960"}

const devices = 6

// peak is bytes moved per time as a percentage of peak DRAM bandwidth.
func (s *stopwatch) peak(bytes, us float64) float64 {
	return 100 * bytes / us / 1e3 / s.profile.MemoryGBps
}

func (s *stopwatch) saxpy(n int) float64 {
	x, y := room[float32](s, n), room[float32](s, n)
	return s.us("saxpy", line(cover(n, 256), 256), int32(n), float32(2), x, y)
}

// tflops is what four chains of multiply-adds per thread reach on a full device.
func tflops[T float32 | float64](s *stopwatch, kernel string) float64 {
	const steps = 1024
	blocks := 8 * s.profile.SMs
	us := s.us(kernel, line(blocks, 256), int32(steps), T(1), room[T](s, 256*blocks))
	return 2 * 4 * steps * 256 * float64(blocks) / us / 1e6
}

func (s *stopwatch) transpose(kernel string) float64 {
	const n = 4096
	return s.us(kernel, plane(n/32, n/32, 32, 8), int32(n), room[float32](s, n*n), room[float32](s, n*n))
}

func (s *stopwatch) gemm(kernel string) float64 {
	const n = 1024
	us := s.us(kernel, plane(n/32, n/32, 32, 32), int32(n), room[float32](s, n*n), room[float32](s, n*n), room[float32](s, n*n))
	return 2 * n * n * n / us / 1e6
}

func (s *stopwatch) count(bins int) float64 {
	return s.us("count", line(million/256, 256), int32(million), int32(bins), room[uint32](s, bins))
}

// chase is the time of a step along a chain through so many bytes.
func (s *stopwatch) chase(bytes int) float64 {
	const steps, line32 = 2048, 32
	next := make([]int32, bytes/4)
	for i := range next {
		next[i] = int32((i + 4099*line32) % len(next))
	}
	return 1000 * s.us("chase", line(1, 1), int32(steps), up(s.gpu, next), room[int32](s, 1)) / steps
}

// texels is how many interpolated texels a second come out of a texture that L1 holds, in 1e9.
func (s *stopwatch) texels() float64 {
	const side, turns = 32, 32
	blocks := 8 * s.profile.SMs
	tex := s.texture(texel.Desc{
		Array:  texels(s.gpu, texel.Layout{Format: texel.F32, Channels: 1, Width: side, Height: side}, make([]float32, side*side)),
		Linear: true, Address: clamped,
	})
	us := s.us("texels", line(blocks, 256), tex, room[float32](s, 256*blocks))
	return turns * 256 * float64(blocks) / us / 1e3
}

var magnitudes = []magnitude{
	{"empty kernel", "us", 1, func(s *stopwatch) float64 { return s.us("empty", line(1, 32)) },
		[devices]float64{0.1, 0.1, 0.1, 0.1, 0.1, 0.1}, [devices]float64{2, 2, 2, 2, 2, 2}},
	{"empty kernel of 2^20 blocks", "us", 1, func(s *stopwatch) float64 { return s.us("empty", line(million, 32)) },
		[devices]float64{300, 300, 300, 300, 300, 300}, [devices]float64{1500, 1500, 1500, 1500, 1500, 1500}},
	{"saxpy of 2^10 elements", "us", 0, func(s *stopwatch) float64 { return s.saxpy(1 << 10) },
		[devices]float64{0.3, 0.3, 0.3, 0.3, 0.3, 0.3}, [devices]float64{5, 5, 5, 5, 5, 5}},
	{"saxpy of 2^24 elements, of peak bandwidth", "%", 8, func(s *stopwatch) float64 { return s.peak(12*16*million, s.saxpy(16*million)) },
		[devices]float64{65, 85, 85, 69, 83, 75}, [devices]float64{95, 95, 95, 80, 92, 83}},
	{"a step of a chain through 4 MB", "ns", 0, func(s *stopwatch) float64 { return s.chase(4 << 20) },
		[devices]float64{100, 130, 100, 150, 100, 150}, [devices]float64{220, 260, 220, 450, 350, 500}},
	{"FP32 multiply-adds", "TFLOPS", 2, func(s *stopwatch) float64 { return tflops[float32](s, "fma32") },
		[devices]float64{45, 17, 13.5, 7.5, 4.3, 2}, [devices]float64{67, 19.5, 15.7, 9.4, 5.1, 2.45}},
	{"FP64 multiply-adds", "TFLOPS", 2, func(s *stopwatch) float64 { return tflops[float64](s, "fma64") },
		[devices]float64{28, 8.5, 6.8, 4, 0.13, 0.065}, [devices]float64{33.5, 9.75, 7.85, 4.7, 0.16, 0.076}},
	{"transpose of 4096^2, column by column", "us", 8, func(s *stopwatch) float64 { return s.transpose("transpose_plain") },
		[devices]float64{50, 100, 200, 300, 420, 1300}, [devices]float64{250, 400, 900, 1500, 2000, 6000}},
	{"transpose through shared memory, 32-way conflicts", "us", 8, func(s *stopwatch) float64 { return s.transpose("transpose_conflicts") },
		[devices]float64{45, 85, 160, 300, 420, 1300}, [devices]float64{120, 200, 350, 700, 1300, 2500}},
	{"transpose through shared memory, padded", "us", 8, func(s *stopwatch) float64 { return s.transpose("transpose_padded") },
		[devices]float64{28, 66, 149, 244, 399, 1198}, [devices]float64{45, 100, 250, 500, 600, 2200}},
	{"sgemm of 1024, each element from memory", "TFLOPS", 2, func(s *stopwatch) float64 { return s.gemm("sgemm_plain") },
		[devices]float64{2, 1.2, 0.7, 0.4, 0.2, 0.1}, [devices]float64{7, 4, 3, 2.5, 1.5, 0.8}},
	// Two loads of shared memory for each multiply-add keep the GTX 1660 Super below 0.63 and
	// the GTX 960 below 0.31.
	{"sgemm of 1024, tiles of 32", "TFLOPS", 2, func(s *stopwatch) float64 { return s.gemm("sgemm_tiled") },
		[devices]float64{5, 3, 2.5, 1.2, 0.5, 0.25}, [devices]float64{12, 7, 6, 4.5, 2.5, 1.3}},
	// Data sheets have texture units by clock: 157 for the GTX 1660 Super, 75 for the GTX 960.
	{"texels between four", "GTexels/s", 2, func(s *stopwatch) float64 { return s.texels() },
		[devices]float64{900, 520, 420, 250, 135, 55}, [devices]float64{1046, 610, 490, 292, 157.1, 75.4}},
	{"2^20 atomic adds to one word", "us", 8, func(s *stopwatch) float64 { return s.count(1) },
		[devices]float64{200, 200, 200, 200, 200, 200}, [devices]float64{1500, 1500, 1500, 1500, 1500, 1500}},
	{"2^20 atomic adds to 2^16 words", "us", 8, func(s *stopwatch) float64 { return s.count(1 << 16) },
		[devices]float64{1, 1, 1, 1, 1, 1}, [devices]float64{30, 30, 30, 60, 60, 80}},
}

// The published orders of magnitude come out, and those that docs/TIME-MODEL.md
// shows are what comes out. `go test ./sim -run TestMagnitudes -rewrite` writes it.
func TestMagnitudes(t *testing.T) {
	values := make([][devices]float64, len(magnitudes))
	for i, m := range magnitudes {
		for k, id := range magnitudeProfiles {
			s := newStopwatch(t, "timing", profile(t, id), m.sample)
			v := m.value(s)
			require.GreaterOrEqual(t, v, m.lo[k], "%s on %s, %s", m.name, id, m.unit)
			require.LessOrEqual(t, v, m.hi[k], "%s on %s, %s", m.name, id, m.unit)
			values[i][k] = v
		}
	}
	of := func(name string, k int) float64 {
		for i, m := range magnitudes {
			if strings.HasPrefix(m.name, name) {
				return values[i][k]
			}
		}
		panic("BUG: no " + name)
	}
	for k, id := range magnitudeProfiles {
		require.GreaterOrEqual(t, of("transpose through shared memory, 32", k), of("transpose through shared memory, padded", k), id)
		gain := 1.3
		if id == "gtx1660s" {
			gain = 1.1 // a hit of its large L1 costs what one of shared memory does
		}
		require.Greater(t, of("sgemm of 1024, tiles", k), gain*of("sgemm of 1024, each", k), id)
		require.Greater(t, of("2^20 atomic adds to one", k), 5*of("2^20 atomic adds to 2^16", k), id)
	}
	require.Greater(t, of("transpose through shared memory, 32", 0), 1.5*of("transpose through shared memory, padded", 0))
	section.Check(t, timeModel, "magnitudes", magnitudeTable(values))
}

func magnitudeTable(values [][devices]float64) string {
	var b strings.Builder
	fmt.Fprintf(&b, "| simulated | | %s |\n|---|---%s|\n", strings.Join(magnitudeProfiles[:], " | "), strings.Repeat("|---:", devices))
	for i, m := range magnitudes {
		fmt.Fprintf(&b, "| %s | %s |", m.name, m.unit)
		for _, v := range values[i] {
			fmt.Fprintf(&b, " %.3g |", v)
		}
		b.WriteString("\n")
	}
	return b.String()
}

const timeModel = "../../docs/TIME-MODEL.md"
