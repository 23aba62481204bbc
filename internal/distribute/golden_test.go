package distribute_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/internal/distribute"
	"github.com/reprise-gpu/reprise/internal/machine"
	"github.com/reprise-gpu/reprise/ir"
	"github.com/reprise-gpu/reprise/tracer"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// shapes are one case of each way in which operations and bytes are distributed.
var shapes = []struct {
	name           string
	ranks, devices int
	options        distribute.Options
	peers          bool
	build          func(*tracer.Tracer, *tracer.Module)
}{
	{"halo", 2, 2, distribute.Options{}, true, wave(64)},
	{"tiles", 1, 4, distribute.Options{Tiles: true}, true, wave(64)},
	{"tiles-ranks", 2, 2, distribute.Options{Tiles: true}, true, wave(64)},
	{"tiles-staged", 1, 4, distribute.Options{Tiles: true}, false, wave(64)},
	{"tiles-packed", 4, 1, distribute.Options{Tiles: true}, true, wave(64)},
	{"edges", 1, 2, distribute.Options{Overlap: distribute.OverlapAll}, true, wave(256)},
	{"edges-short", 3, 1, distribute.Options{}, true, wave(256)},
	{"staged", 1, 2, distribute.Options{}, false, wave(32)},
	{"gather", 2, 2, distribute.Options{}, true, pairs},
	{"gather-staged", 1, 3, distribute.Options{}, false, pairs},
	{"atomics", 2, 2, distribute.Options{}, true, atomics},
	{"whole", 2, 1, distribute.Options{}, true, scattered},
	{"placed", 2, 2, distribute.Options{}, true, independent},
	{"tickets", 2, 1, distribute.Options{}, true, tickets},
	{"broadcast", 1, 3, distribute.Options{}, true, announced},
	{"replicated", 2, 1, distribute.Options{}, true, sums},
	{"aside", 1, 2, distribute.Options{Overlap: distribute.OverlapAll}, true, observed},
	{"coalesced", 2, 1, distribute.Options{}, true, two},
	{"bytes", 1, 2, distribute.Options{}, true, moves},
}

// pairs is an iteration in which each block reads all elements and writes its own.
func pairs(tr *tracer.Tracer, m *tracer.Module) {
	x, y := tr.Alloc("x", ir.I32, 512, ir.InOut), tr.Alloc("y", ir.I32, 512, ir.Temporary)
	tr.Launch(m.Kernel("pairs"), tracer.Linear(8, 64), x, y, 512)
	tr.Launch(m.Kernel("axpy"), tracer.Linear(8, 64), y, x, 2, 512)
}

// atomics counts elements by atomic additions.
func atomics(tr *tracer.Tracer, m *tracer.Module) {
	x, c := tr.Alloc("x", ir.I32, 512, ir.InOut), tr.Alloc("counts", ir.I32, 16, ir.InOut)
	tr.Launch(m.Kernel("axpy"), tracer.Linear(8, 64), x, x, 2, 512)
	tr.Launch(m.Kernel("count"), tracer.Linear(8, 64), x, c, 512)
}

// scattered writes elements whose places are in memory, so that chunks may write the same ones.
func scattered(tr *tracer.Tracer, m *tracer.Module) {
	const n = 1 << 19 // too much for every device to run it
	x, y, perm := tr.Alloc("x", ir.I32, n, ir.InOut), tr.Alloc("y", ir.I32, n, ir.InOut), tr.Alloc("perm", ir.I32, n, ir.Constant)
	tr.Launch(m.Kernel("scatter"), tracer.Linear(n/64, 64), x, perm, y, n)
	tr.Launch(m.Kernel("axpy"), tracer.Linear(n/64, 64), y, x, 2, n)
}

// independent has launches that run whole: two on data of their own, one that continues the second, and one on new data.
func independent(tr *tracer.Tracer, m *tracer.Module) {
	const n = 1 << 19
	perm := tr.Alloc("perm", ir.I32, n, ir.Constant)
	scatter := func(from, to tracer.Buffer) {
		tr.Launch(m.Kernel("scatter"), tracer.Linear(n/64, 64), from, perm, to, n)
	}
	buffer := func(name string) tracer.Buffer { return tr.Alloc(name, ir.I32, n, ir.InOut) }
	a, b, c, d, e := buffer("a"), buffer("b"), buffer("c"), buffer("d"), buffer("e")
	scatter(a, b)
	scatter(a, c)
	scatter(c, d)
	scatter(a, e)
}

// tickets uses the results of atomic operations, so that it runs on one device.
func tickets(tr *tracer.Tracer, m *tracer.Module) {
	c, x := tr.Alloc("counter", ir.I32, 1, ir.InOut), tr.Alloc("tickets", ir.I32, 512, ir.InOut)
	tr.Launch(m.Kernel("ticket"), tracer.Linear(8, 64), c, x, 512)
	tr.Launch(m.Kernel("axpy"), tracer.Linear(8, 64), x, x, 2, 512)
}

// announced writes on one device what all devices read.
func announced(tr *tracer.Tracer, m *tracer.Module) {
	c, x, y := tr.Alloc("counter", ir.I32, 1, ir.InOut), tr.Alloc("tickets", ir.I32, 512, ir.InOut), tr.Alloc("y", ir.I32, 512, ir.Output)
	tr.Launch(m.Kernel("ticket"), tracer.Linear(8, 64), c, x, 512)
	tr.Launch(m.Kernel("pairs"), tracer.Linear(8, 64), x, y, 512)
}

// sums adds the sum of all elements to each of them.
func sums(tr *tracer.Tracer, m *tracer.Module) {
	x, parts, total := tr.Alloc("x", ir.I32, 512, ir.InOut), tr.Alloc("parts", ir.I32, 8, ir.Temporary), tr.Alloc("total", ir.I32, 1, ir.Output)
	tr.Launch(m.Kernel("sums"), tracer.Linear(8, 64), x, parts, 512)
	tr.Launch(m.Kernel("fold"), tracer.Linear(1, 32), parts, total, 8)
	tr.Launch(m.Kernel("shift"), tracer.Linear(8, 64), total, x, 512)
}

// observed adds up elements before they change. No other launch reads the sum.
func observed(tr *tracer.Tracer, m *tracer.Module) {
	x, y, parts, total := tr.Alloc("x", ir.I32, 512, ir.Constant), tr.Alloc("y", ir.I32, 512, ir.InOut), tr.Alloc("parts", ir.I32, 8, ir.Temporary), tr.Alloc("total", ir.I32, 1, ir.Output)
	tr.Launch(m.Kernel("sums"), tracer.Linear(8, 64), y, parts, 512)
	tr.Launch(m.Kernel("fold"), tracer.Linear(1, 32), parts, total, 8)
	tr.Launch(m.Kernel("axpy"), tracer.Linear(8, 64), x, y, 2, 512)
}

// two reverses two buffers that are written before both: one exchange brings both.
func two(tr *tracer.Tracer, m *tracer.Module) {
	x, y := tr.Alloc("x", ir.I32, 512, ir.InOut), tr.Alloc("y", ir.I32, 512, ir.InOut)
	u, v := tr.Alloc("u", ir.I32, 512, ir.Temporary), tr.Alloc("v", ir.I32, 512, ir.Temporary)
	tr.Launch(m.Kernel("axpy"), tracer.Linear(8, 64), y, x, 2, 512)
	tr.Launch(m.Kernel("axpy"), tracer.Linear(8, 64), x, y, 2, 512)
	tr.Launch(m.Kernel("reverse"), tracer.Linear(8, 64), x, u, 512)
	tr.Launch(m.Kernel("reverse"), tracer.Linear(8, 64), y, v, 512)
	tr.Launch(m.Kernel("axpy"), tracer.Linear(8, 64), u, x, 2, 512)
	tr.Launch(m.Kernel("axpy"), tracer.Linear(8, 64), v, y, 2, 512)
}

// moves fills and copies.
func moves(tr *tracer.Tracer, m *tracer.Module) {
	x, y := tr.Alloc("x", ir.I32, 500, ir.Temporary), tr.Alloc("y", ir.I32, 500, ir.InOut)
	tr.Memset(x, int32(7))
	tr.Launch(m.Kernel("axpy"), tracer.Linear(8, 64), x, y, 2, 500)
	tr.Copy(x, y)
	tr.Launch(m.Kernel("reverse"), tracer.Linear(8, 64), x, y, 500)
}

func TestPlans(t *testing.T) {
	for _, c := range shapes {
		t.Run(c.name, func(t *testing.T) {
			p, err := distribute.New(record(t, c.name, c.build), machineOf(t, c.ranks, c.devices, c.peers), c.options)
			require.NoError(t, err)
			require.NoError(t, distribute.Verify(p))
			file := filepath.Join("testdata", "plans", c.name)
			if *update {
				require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
				require.NoError(t, os.WriteFile(file, []byte(p.String()), 0o644))
			}
			want, err := os.ReadFile(file)
			require.NoError(t, err)
			assert.Equal(t, string(want), p.String())
		})
	}
}

// machineOf is the layout of a machine of equal devices, with or without peers.
func machineOf(t testing.TB, ranks, devices int, peers bool) *distribute.Layout {
	m, err := machine.Uniform(ranks, devices, "h200")
	require.NoError(t, err)
	if !peers {
		m.Ranks[0].Links = nil
	}
	return distribute.LayoutOf(m)
}

// Verify finds each operation that is missing, each wait that is missing and is not implied by others, and each transfer of
// too few bytes.
func TestVerifyFindsWhatIsMissing(t *testing.T) {
	for _, c := range shapes {
		base, err := distribute.New(record(t, c.name, c.build), machineOf(t, c.ranks, c.devices, c.peers), c.options)
		require.NoError(t, err)
		for r := range base.Rounds {
			for i := range base.Rounds[r].Ops {
				for change, f := range changes {
					p := copied(base)
					if !f(&p.Rounds[r].Ops[i]) {
						continue
					}
					assert.Error(t, distribute.Verify(p), "%s: round %d #%d without its %s\n%v", c.name, r, i, change, base)
				}
			}
		}
	}
}

// copied returns a plan whose operations can be changed.
func copied(p *distribute.Plan) *distribute.Plan {
	q := *p
	q.Rounds = slices.Clone(p.Rounds)
	for r := range q.Rounds {
		q.Rounds[r].Ops = slices.Clone(p.Rounds[r].Ops)
	}
	return &q
}

// changes break an operation. They return false if they do not apply.
var changes = map[string]func(*distribute.Op) bool{
	"transfer": func(op *distribute.Op) bool { // becomes a transfer of nothing
		if op.Kind == distribute.Run {
			return false
		}
		op.Bytes.Hi = op.Bytes.Lo
		return true
	},
	"last byte": func(op *distribute.Op) bool {
		if op.Kind == distribute.Run {
			return false
		}
		op.Bytes.Hi--
		return true
	},
	"waits": func(op *distribute.Op) bool {
		had := len(op.Waits) > 0
		op.Waits = nil
		return had
	},
}

func TestRefusals(t *testing.T) {
	for want, build := range map[string]func(*tracer.Tracer, *tracer.Module){
		"a host cannot be distributed": func(tr *tracer.Tracer, m *tracer.Module) {
			tr.HostCall("look", func() error { return nil })
		},
		"buffer h is in memory of the host": func(tr *tracer.Tracer, m *tracer.Module) {
			tr.Copy(tr.Alloc("x", ir.I32, 4, ir.InOut), tr.AllocHost("h", ir.I32, 4, ir.Input))
		},
	} {
		_, err := distribute.New(record(t, "refused", build), layout(t, 1, 2), distribute.Options{})
		assert.ErrorContains(t, err, want)
	}
}

func TestTooLittleMemory(t *testing.T) {
	l := layout(t, 2, 2)
	for d := range l.Devices {
		l.Devices[d].Memory = 20_000
	}
	_, err := distribute.New(record(t, "wave", wave(128)), l, distribute.Options{})
	require.Error(t, err)
	e := &distribute.MemoryError{}
	require.ErrorAs(t, err, &e)
	assert.Equal(t, 2, len(e.Buffers))
	assert.ErrorContains(t, err, fmt.Sprintf("device 0 of rank 0 needs %d bytes and has 20000", e.Need))
}

// The memory of the host through which a rank exchanges bytes is part of the check. A launch exchanges a row of 126 words in
// both directions. One launch does so in the first round, and two in the repeated one.
func TestTooLittleHostMemory(t *testing.T) {
	l := layout(t, 2, 2)
	p, err := distribute.New(record(t, "wave", wave(128)), l, distribute.Options{})
	require.NoError(t, err)
	need := p.Staging()
	assert.Equal(t, []int64{3 * 2 * 126 * 4, 3 * 2 * 126 * 4}, need)
	assert.Contains(t, p.String(), fmt.Sprintf("host memory of rank 1: %d bytes", need[1]))
	l.Host = []int64{0, need[1]}
	_, err = distribute.New(record(t, "wave", wave(128)), l, distribute.Options{})
	require.NoError(t, err)
	l.Host[1]--
	_, err = distribute.New(record(t, "wave", wave(128)), l, distribute.Options{})
	assert.EqualError(t, err, fmt.Sprintf("distribute: rank 1 needs %d bytes of host memory for transfers and has %d: use more ranks or a smaller problem", need[1], need[1]-1))
	e := &distribute.MemoryError{}
	require.ErrorAs(t, err, &e)
	assert.Equal(t, -1, e.Device)
}

// An order that no access requires cannot be kept between devices.
func TestDeclaredOrder(t *testing.T) {
	g := record(t, "order", wave(32))
	g.Ops[1].After = []ir.OpID{0}
	_, err := distribute.New(g, layout(t, 1, 2), distribute.Options{})
	assert.ErrorContains(t, err, "operation stencil#2 of order")
	assert.ErrorContains(t, err, "it is declared to run after stencil#1")
	_, err = distribute.New(g, layout(t, 1, 1), distribute.Options{})
	assert.NoError(t, err)
}

// A launch is cut in proportion to the weights of the machine, and to the bandwidths where it has none.
func TestWeights(t *testing.T) {
	m, err := machine.Uniform(1, 3, "h200")
	require.NoError(t, err)
	counts := func() (list []int64) {
		p, err := distribute.New(record(t, "wave", wave(512)), distribute.LayoutOf(m), distribute.Options{Overlap: distribute.OverlapNone})
		require.NoError(t, err)
		require.NoError(t, distribute.Verify(p))
		for _, c := range p.Decisions[0].Chunks {
			list = append(list, c.Count/64) // rows of 64 blocks
		}
		return list
	}
	assert.Equal(t, []int64{21, 22, 21}, counts())
	for d, w := range []float64{1, 2, 5} {
		m.Ranks[0].Devices[d].Weight = w
	}
	assert.Equal(t, []int64{8, 16, 40}, counts())
}
