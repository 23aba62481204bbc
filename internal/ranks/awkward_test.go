package ranks_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/internal/machine"
	"github.com/reprise-gpu/reprise/internal/ranks"
	"github.com/reprise-gpu/reprise/ir"
	"github.com/reprise-gpu/reprise/tracer"
)

// uneven is a machine whose ranks have one, three and two devices; those of the last one are no peers.
func uneven(t testing.TB) *machine.Machine {
	m, err := machine.Uniform(3, 3, "h200")
	require.NoError(t, err)
	m.Ranks[0].Devices, m.Ranks[0].Links = m.Ranks[0].Devices[:1], nil
	m.Ranks[2].Devices, m.Ranks[2].Links = m.Ranks[2].Devices[:2], nil
	return m
}

// awkward are programs at the limits of what can be distributed.
var awkward = map[string]func(tr *tracer.Tracer, m *tracer.Module) []tracer.Buffer{
	"nothing": func(tr *tracer.Tracer, m *tracer.Module) []tracer.Buffer {
		return []tracer.Buffer{tr.Alloc("x", ir.I32, 100, ir.InOut)}
	},
	"empty buffer": func(tr *tracer.Tracer, m *tracer.Module) []tracer.Buffer {
		x, none := tr.Alloc("x", ir.I32, 100, ir.InOut), tr.Alloc("none", ir.I32, 0, ir.InOut)
		tr.Launch(m.Kernel("axpy"), tracer.Linear(2, 64), none, none, 1, 0)
		tr.Memset(none, int32(1))
		tr.Copy(none, none.Slice(0, 0))
		tr.Launch(m.Kernel("axpy"), tracer.Linear(2, 64), x, x, 1, 100)
		return []tracer.Buffer{x, none}
	},
	"fewer blocks than devices": func(tr *tracer.Tracer, m *tracer.Module) []tracer.Buffer {
		x, y := tr.Alloc("x", ir.I32, 100, ir.InOut), tr.Alloc("y", ir.I32, 100, ir.InOut)
		tr.Launch(m.Kernel("pairs"), tracer.Linear(2, 64), x, y, 100)
		tr.Launch(m.Kernel("reverse"), tracer.Linear(4, 32), y, x, 100)
		return []tracer.Buffer{x, y}
	},
	"more blocks than elements": func(tr *tracer.Tracer, m *tracer.Module) []tracer.Buffer {
		x, y := tr.Alloc("x", ir.I32, 100, ir.InOut), tr.Alloc("y", ir.I32, 100, ir.InOut)
		tr.Launch(m.Kernel("pairs"), tracer.Linear(64, 64), x, y, 100)
		tr.Launch(m.Kernel("axpy"), tracer.Linear(64, 64), y, x, 3, 100)
		return []tracer.Buffer{x, y}
	},
	"slices of one buffer": func(tr *tracer.Tracer, m *tracer.Module) []tracer.Buffer {
		x := tr.Alloc("x", ir.I32, 1000, ir.InOut)
		tr.Launch(m.Kernel("axpy"), tracer.Linear(8, 64), x.Slice(0, 500), x.Slice(500, 1000), 1, 500)
		tr.Launch(m.Kernel("reverse"), tracer.Linear(8, 64), x.Slice(250, 700), x.Slice(700, 1000), 300)
		tr.Launch(m.Kernel("count"), tracer.Linear(8, 64), x.Slice(500, 1000), x.Slice(16, 32), 500)
		tr.Copy(x.Slice(3, 103), x.Slice(800, 900))
		return []tracer.Buffer{x}
	},
	"never written before": func(tr *tracer.Tracer, m *tracer.Module) []tracer.Buffer {
		x, y := tr.Alloc("x", ir.I32, 500, ir.InOut), tr.Alloc("y", ir.I32, 500, ir.Temporary)
		tr.Memset(y, int32(3))
		tr.Launch(m.Kernel("axpy"), tracer.Linear(8, 64), y, x, 1, 500)
		return []tracer.Buffer{x}
	},
	"a parameter": func(tr *tracer.Tracer, m *tracer.Module) []tracer.Buffer {
		x, y := tr.Alloc("x", ir.I32, 500, ir.InOut), tr.Alloc("y", ir.I32, 500, ir.InOut)
		tr.Launch(m.Kernel("axpy"), tracer.Linear(8, 64), x, y, tr.Param("a", ir.I32, 7), 500)
		tr.Launch(m.Kernel("axpy"), tracer.Linear(8, 64), y, x, 1, tr.Param("n", ir.I32, 400))
		return []tracer.Buffer{x, y}
	},
	"updates of a part": func(tr *tracer.Tracer, m *tracer.Module) []tracer.Buffer {
		x, c := tr.Alloc("x", ir.I32, 500, ir.InOut), tr.Alloc("c", ir.I32, 100, ir.InOut)
		tr.Launch(m.Kernel("count"), tracer.Linear(8, 64), x, c.Slice(37, 53), 500)
		tr.Launch(m.Kernel("count"), tracer.Linear(8, 64), x, c.Slice(45, 61), 500)
		tr.Launch(m.Kernel("axpy"), tracer.Linear(2, 64), c, x.Slice(0, 100), 1, 100)
		return []tracer.Buffer{x, c}
	},
	"results of updates": func(tr *tracer.Tracer, m *tracer.Module) []tracer.Buffer {
		x, c := tr.Alloc("x", ir.I32, 500, ir.InOut), tr.Alloc("c", ir.I32, 1, ir.InOut)
		tr.Launch(m.Kernel("ticket"), tracer.Linear(8, 64), c, x, 500)
		tr.Launch(m.Kernel("axpy"), tracer.Linear(8, 64), x, x, 2, 500)
		return []tracer.Buffer{x, c}
	},
}

// A grid that is too large to be cut is planned to run on one device.
func TestLargeGrid(t *testing.T) {
	const empty = ".version 6.0\n.target sm_60\n.address_size 64\n.visible .entry empty() { ret; }\n"
	for _, err := range compiled(t, func(_ int, tr *tracer.Tracer) []tracer.Buffer {
		shape := tracer.Shape{Grid: ir.Dim3{X: 1 << 20, Y: 1 << 13, Z: 1}, Block: ir.Dim3{X: 1, Y: 1, Z: 1}}
		tr.Launch(tr.Module("empty.ptx", empty).Kernel("empty"), shape)
		return nil
	}, func(_ *ranks.Rank, p *ranks.Plan, _ []tracer.Buffer) error {
		assert.Contains(t, p.Why(), "the grid has 8589934592 blocks")
		return nil
	}) {
		assert.NoError(t, err)
	}
}

// Each gives the bytes of one device, as graphs and over streams, also on a machine of unequal ranks.
func TestAwkwardPrograms(t *testing.T) {
	for name, build := range awkward {
		p := &program{
			name: "awkward", steps: 3,
			build: func(tr *tracer.Tracer) []tracer.Buffer { return build(tr, tr.Module("kernels.ptx", kernels)) },
		}
		var sizes []int64
		tr := ranksRecorder(t)
		for _, b := range p.build(tr) {
			sizes = append(sizes, b.Bytes())
		}
		p.contents = func(b int) []byte { return words(int(sizes[b]/4), uint32(b)) }
		want := p.alone(t)
		for _, streams := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/%t", name, streams), func(t *testing.T) {
				got := p.distributed(t, uneven(t), ranks.Options{Streams: streams})
				for b := range want {
					assert.Equal(t, want[b], got[b], "buffer %d", b)
				}
			})
		}
	}
}

// ranksRecorder is a tracer that is thrown away.
func ranksRecorder(t testing.TB) *tracer.Tracer {
	m, err := machine.Uniform(1, 1, "h200")
	require.NoError(t, err)
	var tr *tracer.Tracer
	for _, err := range onMachine(t, m, func(r *ranks.Rank) error { tr = r.Record("sizes"); return nil }) {
		require.NoError(t, err)
	}
	return tr
}

// A trace that is missing is an error on all ranks.
func TestNoTrace(t *testing.T) {
	m, err := machine.Uniform(2, 1, "h200")
	require.NoError(t, err)
	for _, err := range onMachine(t, m, func(r *ranks.Rank) error {
		_, err := r.Compile(context.Background(), nil, ranks.Options{})
		return err
	}) {
		assert.ErrorContains(t, err, "the trace is nil or zero")
	}
}
