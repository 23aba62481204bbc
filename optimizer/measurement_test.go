package optimizer

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/device/model"
	"github.com/reprise-gpu/reprise/internal/costmodel"
	"github.com/reprise-gpu/reprise/internal/des"
	"github.com/reprise-gpu/reprise/internal/profiles"
	"github.com/reprise-gpu/reprise/ir"
)

const twoLaunches = `
graph two {
  module m "m.ptx"
  buffer @x f32[1024] device(0) inout
  %0 = memset @x u32=0
  %1 = launch m.first grid(4) block(64) args(@x, i32=7) uses(readwrite @x)
  %2 = launch m.second grid(4) block(64) args(@x, i32=7) uses(readwrite @x)
}
`

// measured is the program and a measurement of it in which its second launch takes long.
func measured(t *testing.T) (*ir.Graph, *model.Profile, *Measurement) {
	file, err := ir.Load("two.rir", twoLaunches)
	require.NoError(t, err)
	p, err := profiles.Lookup("h200")
	require.NoError(t, err)
	m, err := costmodel.NewMeasurement(file.Graph, p, []model.Demand{
		{Kind: model.Kernel, Blocks: 4, PerSM: 8, BlockCycles: 1000},
		{Kind: model.Kernel, Blocks: 4, PerSM: 8, BlockCycles: 1e6},
	})
	require.NoError(t, err)
	return file.Graph, p, m
}

// hashOf is the hash of a program of two launches in its measurements.
func hashOf(t *testing.T, g *ir.Graph, p *model.Profile) string {
	m, err := costmodel.NewMeasurement(g, p, make([]model.Demand, 2))
	require.NoError(t, err)
	return m.Hash
}

func TestMeasuredCosts(t *testing.T) {
	g, p, m := measured(t)
	text, err := json.Marshal(m)
	require.NoError(t, err)
	read, err := costmodel.ParseMeasurement(text)
	require.NoError(t, err)
	require.Equal(t, []any{m.Program, m.Hash, m.Device, m.Launches}, []any{read.Program, read.Hash, read.Device, read.Launches})
	analyzed, err := Plan(g, Options{})
	require.NoError(t, err)
	require.NoError(t, read.Check(g, p))
	require.NoError(t, read.Check(analyzed.Graph, p), "what was found out about a program does not make it another")
	moved := *g
	moved.Ops = append([]ir.Op(nil), g.Ops...)
	moved.Ops[1].Pos = &ir.Position{File: "other.go", Line: 8}
	require.NoError(t, read.Check(&moved, p), "nor does a line that moves")

	costs := newMeasuredCosts(p, read)
	assert.Equal(t, newDeclaredCosts(p).Demand(g, 0), costs.Demand(g, 0))
	assert.Equal(t, m.Launches[1].Demand, costs.Demand(g, 2))
	assert.Equal(t, m.Launches[1].Demand, costs.Demand(withoutOps(g, []bool{true, false, false}), 1), "of a program without its fill")
	plan, err := Plan(g, Options{Custom: p, Costs: costs})
	require.NoError(t, err)
	million := 1e6 / float64(p.ClockMHz) * 1000 // cycles in ns
	assert.Greater(t, float64(plan.Schedule.Predicted), million)
	assert.Less(t, float64(plan.Schedule.Predicted), million*1.1)
}

// A file that is not of the program, or was changed, is refused in a sentence.
func TestMeasurementsOfOtherProgramsAreRefused(t *testing.T) {
	g, p, _ := measured(t)
	for _, c := range []struct {
		spoil func(*Measurement)
		says  string
	}{
		{func(m *Measurement) { m.Device = "v100" }, "measured on sim:v100, but the plan is for sim:h200: choose sim:v100 with --device"},
		{func(m *Measurement) {
			other := *g
			other.Buffers = append([]ir.Buffer(nil), g.Buffers...)
			other.Buffers[0].Len *= 2
			m.Hash = hashOf(t, &other, p)
		}, "measured for program two (hash"},
		{func(m *Measurement) { m.Launches = m.Launches[1:] }, "costs are missing for %1, a launch of first"},
		{func(m *Measurement) { m.Launches = m.Launches[:1] }, "costs are missing for %2, a launch of second"},
		{func(m *Measurement) { m.Launches = append(m.Launches, m.Launches[0]) }, "costs for %1, which is not a launch of the program"},
		{func(m *Measurement) { m.Launches[1].Demand.Kind = des.Held }, `the costs of %2, a launch of second: the demand of a launch is of kind "held"; it must be a kernel`},
		{func(m *Measurement) { m.Launches[1].Demand.Blocks = 0 }, "at least 1 block"},
		{func(m *Measurement) { m.Launches[1].Demand.L2Bytes = -1 }, "l2_bytes is -1; it must be from 0 to 1e+18"},
		{func(m *Measurement) { m.Launches[1].Demand.Updates = 1e300 }, "updates is 1e+300; it must be from 0 to 1e+18"},
	} {
		_, _, m := measured(t)
		c.spoil(m)
		assert.ErrorContains(t, m.Check(g, p), c.says)
	}
	old, err := profiles.Lookup("gtx960")
	require.NoError(t, err)
	_, _, m := measured(t)
	m.Device, m.Launches[0].Demand.Faulted = old.ID, 1
	assert.ErrorContains(t, m.Check(g, old), "kernels on gtx960 cannot fault managed memory in: faulted_bytes must be 0")
}

func FuzzParseMeasurement(f *testing.F) {
	f.Add(`{"program":"two","program_hash":"0","device":"h200","launches":[{"op":1,"kernel":"k","demand":{"kind":"kernel","blocks":1}}]}`)
	f.Add(`{"launches":[{"demand":{"warp_instructions":{"fp32":1e308}}}]}`)
	f.Add("null")
	file, err := ir.Load("two.rir", twoLaunches)
	if err != nil {
		f.Fatal(err)
	}
	p, err := profiles.Lookup("h200")
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string) {
		m, err := costmodel.ParseMeasurement([]byte(text))
		if err != nil {
			require.Nil(t, m)
			return
		}
		// Whatever passes the check can be planned with, or is refused as too long.
		m.Device, m.Hash = p.ID, hashOf(t, file.Graph, p)
		if m.Check(file.Graph, p) != nil {
			return
		}
		_, err = Plan(file.Graph, Options{Custom: p, Costs: newMeasuredCosts(p, m)})
		if err != nil {
			require.True(t, strings.Contains(err.Error(), "53 days"), err)
		}
	})
}
