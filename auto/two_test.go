package auto_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/auto"
	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/graphexec"
	"github.com/reprise-gpu/reprise/internal/kernels"
	"github.com/reprise-gpu/reprise/internal/sim"
	"github.com/reprise-gpu/reprise/ir"
	"github.com/reprise-gpu/reprise/tracer"
)

// Two programs alternate on one device, call by call. Each changes its loop after each third of its calls.
func TestTwoProgramsOnOneDevice(t *testing.T) {
	for _, form := range graphexec.Backends() {
		run := func(start func(device.Device) *tracer.Tracer) (seen [2][]uint32, stats [2]auto.Stats) {
			dev, err := sim.New(sim.Options{})
			require.NoError(t, err)
			var launch [2]func(i int)
			var finish [2]func()
			for p := range launch {
				tr := start(dev)
				square, _ := kernels.Lookup("square")
				k := tr.Module(square.File, square.PTX).Kernel("square")
				b := []tracer.Buffer{tr.Alloc("x", ir.F32, 64, ir.InOut), tr.Alloc("y", ir.F32, 64, ir.InOut), tr.Alloc("z", ir.F32, 64, ir.InOut)}
				for _, x := range b {
					require.NoError(t, tracer.Write(x, make([]float32, 64)))
				}
				launch[p] = func(i int) {
					period := 5 + 2*(i/100) + p
					at := i % period
					tr.Memset(b[at%3], float32(at+p)/8)
					tr.Launch(k, tracer.Linear(1, 64), b[at%3], b[(at+1)%3], 64-at)
				}
				finish[p] = func() {
					for _, x := range b {
						data := make([]uint32, 64)
						require.NoError(t, tracer.Read(data, x))
						seen[p] = append(seen[p], data...)
					}
					stats[p] = auto.StatsOf(tr)
					trace, err := tr.Finish()
					require.NoError(t, err)
					require.NoError(t, trace.Close())
				}
			}
			for i := range 300 {
				launch[0](i)
				launch[1](i)
			}
			finish[1]()
			finish[0]()
			require.NoError(t, dev.Close())
			return seen, stats
		}
		want, _ := run(func(dev device.Device) *tracer.Tracer { return tracer.New(dev, "p", tracer.Direct) })
		got, stats := run(func(dev device.Device) *tracer.Tracer { return auto.New(dev, "p", auto.Options{Backend: form}) })
		assert.Equal(t, want, got, "%v", form)
		for _, s := range stats {
			assert.Greater(t, s.Replayed, 400, "%v: of 600, in each third; %+v", form, s)
		}
	}
}
