package calibrate

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/device/model"
	"github.com/reprise-gpu/reprise/internal/null"
	"github.com/reprise-gpu/reprise/internal/profiles"
	"github.com/reprise-gpu/reprise/internal/sim"
	"github.com/reprise-gpu/reprise/internal/wrap"
)

// wrong returns a profile whose figures are far from those of p, so that figures that are copied from it are detected.
func wrong(p *model.Profile) *model.Profile {
	q := *p
	q.ID = "wrong"
	for _, f := range profiles.Figures() {
		_ = f.Set(&q, f.Of(p)*4) // a figure that cannot be that large stays unchanged
	}
	return &q
}

// perturbed returns a copy of p in which every figure that need not be an integer differs by up to a
// quarter.
func perturbed(p *model.Profile, seed uint64) *model.Profile {
	r := rand.New(rand.NewPCG(seed, 5))
	q := *p
	q.ID = fmt.Sprintf("%s-%d", p.ID, seed)
	for _, f := range profiles.Figures() {
		_ = f.Set(&q, f.Of(p)*(0.8+0.45*r.Float64()))
	}
	q.SMs = p.SMs - 7 + r.IntN(14)
	q.EventGap = max(q.EventGap, q.StreamGap) // a shorter one has no effect
	return &q
}

// takenOver lists the figures that cannot be measured from outside a device, or by one process, and those of page
// faults, which are estimated.
var takenOver = []string{
	"l1_bytes", "max_kernels", "threads_per_sm", "blocks_per_sm", "registers_per_sm", "registers_per_warp", "schedulers_per_sm",
	"shared_bytes_per_sm", "shared_bytes_reserved", "lanes_texture", "fault_gbps", "fault_latency_ns", "condition_latency_ns", "graph_body_gap_ns",
	"context_switch_ns", "context_slice_ns",
}

// TestTheSimulatorIsGivenBack calibrates simulated devices, whose figures are known. The result must equal the
// profile of the device, for perturbed profiles as well.
func TestTheSimulatorIsGivenBack(t *testing.T) {
	for _, c := range []struct {
		id    string
		seeds []uint64
		quick bool
	}{
		{"h200", []uint64{0}, false},
		{"v100", []uint64{1}, true},
	} {
		known, err := profiles.Lookup(c.id)
		require.NoError(t, err)
		for _, seed := range c.seeds {
			p := known
			if seed > 0 {
				p = perturbed(known, seed)
			}
			t.Run(p.ID, func(t *testing.T) {
				if testing.Short() && !c.quick {
					t.Skip("takes seconds; one other profile is enough in short")
				}
				givenBack(t, p)
			})
		}
	}
}

func givenBack(t *testing.T, p *model.Profile) {
	dev, err := sim.New(sim.Options{Custom: p})
	require.NoError(t, err)
	res, err := Run(context.Background(), dev, Options{Base: wrong(p)})
	require.NoError(t, err)
	assert.Zero(t, dev.Live(), "left over")
	require.NoError(t, dev.Close())
	got := &res.File.Profile
	for _, f := range profiles.Figures() {
		from := res.File.Origins[f.Name].From
		if slices.Contains(takenOver, f.Name) {
			assert.Equal(t, "taken over from wrong", from, f.Name)
			continue
		}
		require.Contains(t, []string{measured, reported}, from, f.Name)
		v, want := f.Of(got), f.Of(p)
		if v == 0 && within(f.Name, p) {
			continue
		}
		assert.InEpsilon(t, want, v, 0.05, "%s: %v instead of %v", f.Name, v, want)
		assert.LessOrEqual(t, res.File.Origins[f.Name].Spread, agreement, f.Name)
	}
	back, err := profiles.ParseFile("p.json", res.File.Text())
	require.NoError(t, err)
	assert.Equal(t, res.File, back)
}

// within reports whether other limits of the profile prevent work from reaching a limit, so that it
// cannot be measured.
func within(name string, p *model.Profile) bool {
	switch name {
	case "duplex_gbps":
		return p.DuplexGBps >= 2*p.LinkGBps*0.97
	case "l2_gbps":
		return p.L2GBps >= p.SMGBps*float64(p.SMs)*0.96
	}
	return false
}

// noisy is a device with clocks like those of a real machine: the times of events are
// multiples of a step, the clock differs by some thousandths, and the host is sometimes
// interrupted.
type noisy struct {
	device.Device
	r    *rand.Rand
	away time.Duration
}

const mark = 128 * time.Nanosecond

func (d *noisy) Elapsed(a, b device.Event) (time.Duration, error) {
	t, err := d.Device.Elapsed(a, b)
	off := time.Duration(d.r.NormFloat64() * 0.003 * float64(t+10*time.Microsecond))
	return (t + off).Round(mark), err
}

func (d *noisy) Now() time.Duration {
	if d.r.IntN(50) == 0 {
		d.away += time.Duration(d.r.IntN(30_000))
	}
	return d.Device.Now() + d.away
}

// TestNoiseIsMeasuredAway expects every figure within a tenth in spite of noisy clocks.
func TestNoiseIsMeasuredAway(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	known, err := profiles.Lookup("v100")
	require.NoError(t, err)
	p := perturbed(known, 4)
	dev, err := sim.New(sim.Options{Custom: p})
	require.NoError(t, err)
	res, err := Run(context.Background(), &noisy{Device: dev, r: rand.New(rand.NewPCG(6, 7))}, Options{Base: wrong(p)})
	require.NoError(t, err)
	loose := 0
	for _, f := range profiles.Figures() {
		if from := res.File.Origins[f.Name]; from.From == measured {
			v := f.Of(&res.File.Profile)
			if v != 0 || !within(f.Name, p) {
				assert.InEpsilon(t, f.Of(p), v, 0.1, "%s, whose spread is %v", f.Name, from.Spread)
			}
			if from.Spread > 0 {
				loose++
			}
		}
	}
	assert.Greater(t, loose, 20, "the noise shows as spread")
}

// faulty is a device from which the host reads wrong bytes.
type faulty struct {
	device.Device
	read func(b []byte) // sees and changes what is read
}

func (d faulty) Read(b []byte, p device.Ptr) error {
	err := d.Device.Read(b, p)
	d.read(b)
	return err
}

func run(t *testing.T, dev device.Device) error {
	t.Helper()
	_, err := Run(context.Background(), dev, Options{})
	require.NotContains(t, fmt.Sprint(err), "\n")
	return err
}

func TestADeviceThatDoesNotComputeIsRefused(t *testing.T) {
	err := run(t, null.New())
	assert.EqualError(t, err, "null does not compute: thread 0 of kernel rate_fp32 left 0 instead of 20992; only a device that executes kernels can be calibrated")
}

func TestAWrongResultEndsTheCalibration(t *testing.T) {
	dev, err := sim.New(sim.Options{})
	require.NoError(t, err)
	err = run(t, faulty{Device: dev, read: func(b []byte) { b[40]++ }})
	assert.ErrorContains(t, err, "does not compute: thread 10 of kernel rate_fp32 left")
	assert.Zero(t, dev.Live(), "an error leaves nothing on the device")
}

// TestAFailingCallEndsTheCalibration makes calls fail. The error must be returned, and no resources may be left on the
// device.
func TestAFailingCallEndsTheCalibration(t *testing.T) {
	for _, call := range []string{"LoadModule", "CreateStream", "Submit", "Instantiate", "Elapsed", "AllocHost", "LaunchGraph", "Wait"} {
		dev, err := sim.New(sim.Options{})
		require.NoError(t, err)
		failing := wrap.Faults(dev, wrap.FailNth(call, 2, device.OutOfMemory))
		err = run(t, failing)
		assert.ErrorContains(t, err, call, call)
	}
}

func TestAnInterruptEndsTheCalibration(t *testing.T) {
	dev, err := sim.New(sim.Options{})
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	_, err = Run(ctx, dev, Options{Progress: func(what string, _, _ int) {
		if what == "gaps" {
			cancel()
		}
	}})
	assert.True(t, errors.Is(err, context.Canceled), "%v", err)
	assert.Zero(t, dev.Live())
}

func TestEstimate(t *testing.T) {
	assert.Equal(t, Estimate{3, 2.0 / 3}, estimate([]float64{5, 1, 3, 2, 4}))
	assert.Equal(t, Estimate{7, 0}, estimate([]float64{7}))
	assert.Equal(t, Estimate{Spread: 1}, Estimate{2, 0}.minus(Estimate{3, 0}))
	assert.InDelta(t, 0.3, Estimate{4, 0.1}.minus(Estimate{2, 0.1}).Spread, 1e-12)
}

func TestTheReportHasALineForEachFigure(t *testing.T) {
	r := Result{File: &profiles.File{About: "simulated: a device"}, Rows: []Row{
		{"l2_gbps", 6994.9, 7000, 0.0123, measured},
		{"max_kernels", 128, 128, 0, "taken over from h200"},
		{"create event, ns", 300.26, math.NaN(), 0.5, measured},
	}}
	var b strings.Builder
	require.NoError(t, r.WriteTable(&b))
	assert.Equal(t, `simulated: a device

figure            value  base  ratio  spread  from
l2_gbps           6995   7000  0.999  1.2%    measured
max_kernels       128    128   1.000  -       taken over from h200
create event, ns  300.3  -     -      50.0%   measured
`, b.String())
}
