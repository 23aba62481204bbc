package optimizer

import (
	"hash/maphash"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/internal/irtest"
	"github.com/reprise-gpu/reprise/internal/traced"
	"github.com/reprise-gpu/reprise/ir"
)

// machine runs a graph in program order on bytes of its own: what a kernel or a host call
// writes is a hash of its id in the trace and of all that it reads. Kernels leave some
// bytes of what they write as they were, unless it is a temporary.
type machine struct {
	memory [][]uint64 // by buffer and byte
	seen   []uint64   // what host calls read
	seed   maphash.Seed
}

func newMachine(g *ir.Graph, seed maphash.Seed) *machine {
	m := &machine{seed: seed}
	for b := range g.Buffers {
		row := make([]uint64, g.Buffers[b].Size())
		for i := range row {
			row[i] = m.hash(uint64(b), uint64(i))
		}
		m.memory = append(m.memory, row)
	}
	return m
}

func (m *machine) hash(words ...uint64) uint64 {
	h := uint64(0)
	for _, w := range words {
		h = maphash.Comparable(m.seed, [2]uint64{h, w})
	}
	return h
}

func (m *machine) at(r ir.Range) []uint64 { return m.memory[r.Buffer][r.Lo:r.Hi] }

func (m *machine) replay(g *ir.Graph) {
	for v := range g.Ops {
		op := &g.Ops[v]
		id := uint64(traced.Origin(g, ir.OpID(v)))
		switch op.Kind {
		case ir.KindCopy:
			copy(m.at(op.Copy.Dst), m.at(op.Copy.Src))
		case ir.KindMemset:
			width := uint64(op.Memset.Value.Type.Size())
			for i := range m.at(op.Memset.Dst) {
				m.at(op.Memset.Dst)[i] = m.hash(op.Memset.Value.Bits, width, uint64(i)%width)
			}
		case ir.KindLaunch, ir.KindHost:
			m.run(g, op, id)
		}
	}
}

func (m *machine) run(g *ir.Graph, op *ir.Op, id uint64) {
	read := m.hash(id)
	for _, a := range op.Uses {
		if a.Mode.Reads() && !a.Empty() {
			read = m.hash(append([]uint64{read}, m.at(a.Range)...)...)
		}
	}
	if op.Kind == ir.KindHost {
		m.seen = append(m.seen, read)
	}
	for _, a := range op.Uses {
		if !a.Mode.Writes() || a.Empty() {
			continue
		}
		whole := g.Buffers[original(g, a.Buffer)].Role == ir.Temporary
		for i := range m.at(a.Range) {
			if what := m.hash(read, uint64(i)); whole || what%4 > 0 {
				m.at(a.Range)[i] = what
			}
		}
	}
}

// original returns the buffer for which a buffer was made, and a traced buffer itself.
func original(g *ir.Graph, b ir.BufferID) ir.BufferID {
	if int(b) < len(g.Buffers)-g.Made {
		return b
	}
	name, _, _ := strings.Cut(g.Buffers[b].Name, ".")
	return ir.BufferID(slices.IndexFunc(g.Buffers, func(o ir.Buffer) bool { return o.Name == name }))
}

// requireSame replays both graphs twice and compares what outlives them and what host
// calls saw.
func requireSame(t *testing.T, g, h *ir.Graph) {
	t.Helper()
	seed := maphash.MakeSeed()
	want, got := newMachine(g, seed), newMachine(h, seed)
	for range 2 {
		want.replay(g)
		got.replay(h)
	}
	require.Equal(t, want.seen, got.seen, "\n%s\n%s", ir.Print(g), ir.Print(h))
	for b := range g.Buffers {
		if g.Buffers[b].Role != ir.Temporary {
			require.Equal(t, want.memory[b], got.memory[b], "@%s\n%s\n%s", g.Buffers[b].Name, ir.Print(g), ir.Print(h))
		}
	}
}

// copying is a random program with copies of a few buffers to and fro, some of them again.
func copying(r *rand.Rand, ops int) *ir.Graph {
	g := irtest.Random(r, ops)
	for b := range g.Buffers {
		if g.Buffers[b].Role == ir.Constant || g.Buffers[b].Role == ir.Output {
			g.Buffers[b].Role = ir.InOut
		}
	}
	var copies []*ir.Copy
	for v := range g.Ops {
		op := &g.Ops[v]
		if op.Kind == ir.KindCopy {
			copies = append(copies, op.Copy)
		}
		if n := len(copies); n > 0 && r.IntN(2) == 0 && (op.Kind == ir.KindCopy || op.Kind == ir.KindEmpty) {
			c := *copies[r.IntN(n)]
			if r.IntN(2) == 0 {
				c.Dst, c.Src = c.Src, c.Dst
			}
			*op = ir.Op{Kind: ir.KindCopy, Copy: &c, After: op.After, Cost: -1}
		}
	}
	return g
}

// Random programs, replayed with and without what the passes leave out.
func TestEliminationChangesNothingThatIsSeen(t *testing.T) {
	r := rand.New(rand.NewPCG(41, 41))
	var copies, dead int
	for range 2000 {
		g := copying(r, 1+r.IntN(25))
		if ir.Verify(g) != nil {
			continue // a copy that was turned round writes a constant
		}
		short, err := copyelim(g)
		require.NoError(t, err)
		requireSame(t, g, short)
		shorter, err := dce(short)
		require.NoError(t, err)
		requireSame(t, g, shorter)
		require.NoError(t, ir.Verify(shorter))
		again, err := dce(shorter)
		require.NoError(t, err)
		require.Equal(t, shorter.Len(), again.Len(), "twice is once")
		copies += g.Len() - short.Len()
		dead += short.Len() - shorter.Len()
	}
	t.Logf("%d copies and %d operations went", copies, dead)
	assert.Greater(t, copies, 100)
	assert.Greater(t, dead, 100)
}
