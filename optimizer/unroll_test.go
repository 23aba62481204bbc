package optimizer

import (
	"fmt"
	"hash/maphash"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/internal/irtest"
	"github.com/reprise-gpu/reprise/ir"
)

// edited applies passes by name.
func edited(t *testing.T, g *ir.Graph, texts ...string) *ir.Graph {
	list, err := passesNamed(texts)
	require.NoError(t, err)
	for _, p := range list {
		g, err = p.edit(g, &Options{})
		require.NoError(t, err, p.name)
		require.NoError(t, ir.Verify(g), p.name)
	}
	return g
}

// requireReplays compares what replays of g leave, and what host calls saw in them, with what one
// of h does. Between replays of g, between is called with its memory.
func requireReplays(t *testing.T, g, h *ir.Graph, k int, between func(memory [][]uint64)) {
	t.Helper()
	seed := maphash.MakeSeed()
	want, got := newMachine(g, seed), newMachine(h, seed)
	for range 2 { // what the first leaves, the second finds
		for range k {
			want.replay(g)
			between(want.memory)
		}
		got.replay(h)
	}
	require.Equal(t, want.seen, got.seen, "\n%s\n%s", ir.Print(g), ir.Print(h))
	for b := range g.Buffers {
		if g.Buffers[b].Role != ir.Temporary {
			require.Equal(t, want.memory[b], got.memory[b], "@%s\n%s\n%s", g.Buffers[b].Name, ir.Print(g), ir.Print(h))
		}
	}
}

// Random programs, unrolled, with and without memories of their own for the copies, and then
// less what nothing comes of.
func TestUnrolledIsReplayed(t *testing.T) {
	r := rand.New(rand.NewPCG(51, 51))
	renamed, shorter := 0, 0
	for range 600 {
		g := copying(r, 1+r.IntN(15))
		if ir.Verify(g) != nil {
			continue // a copy that was turned round writes a constant
		}
		k := 1 + r.IntN(4)
		unrolled := edited(t, g, fmt.Sprintf("unroll(%d)", k))
		require.Equal(t, k*g.Len(), unrolled.Len())
		none := func([][]uint64) {}
		requireReplays(t, g, unrolled, k, none)
		two := edited(t, unrolled, "rename(2)")
		requireReplays(t, g, two, k, none)
		less := edited(t, two, "copyelim", "dce")
		requireReplays(t, g, less, k, none)
		renamed += two.Made
		shorter += two.Len() - less.Len()
	}
	assert.Greater(t, renamed, 200)
	assert.Greater(t, shorter, 200)
}

// Buffers that change places are those of a program that changes them itself.
func TestRotatedIsSwapped(t *testing.T) {
	r := rand.New(rand.NewPCG(52, 52))
	for range 300 {
		g := irtest.Random(r, 1+r.IntN(12))
		places := 2 + r.IntN(2)
		var names []string
		for i := range places {
			names = append(names, []string{"u", "v", "w"}[i])
			g.Buffers = append(g.Buffers, ir.Buffer{Name: names[i], Elem: ir.F32, Len: 4, Role: ir.InOut})
		}
		step := ir.Op{Kind: ir.KindLaunch, Launch: &ir.Launch{Entry: "step", Grid: ir.Dim3{X: 1, Y: 1, Z: 1}, Block: ir.Dim3{X: 32, Y: 1, Z: 1}}, Cost: -1}
		for i := range places {
			b := ir.BufferID(len(g.Buffers) - places + i)
			step.Uses = append(step.Uses, ir.Access{Range: ir.Range{Buffer: b, Hi: 16}, Mode: ir.Mode(i % 2)})
			step.Launch.Args = append(step.Launch.Args, ir.Arg{Kind: ir.ArgBuffer, Buffer: b})
		}
		if n := r.Int64N(9); n < 4 { // what one copy fills, the last may leave as it was
			fill := &ir.Memset{Dst: ir.Range{Buffer: step.Uses[0].Buffer, Hi: 4 * (n + 1)}, Value: ir.Scalar{Type: ir.U32, Bits: 7}}
			step = ir.Op{Kind: ir.KindMemset, Memset: fill, Cost: -1}
		}
		g.Ops = append(g.Ops, step)
		h := edited(t, g, "unroll(6)", "rotate("+strings.Join(names, ":")+")", "rename(3)")
		requireReplays(t, g, h, 6, func(memory [][]uint64) {
			ring := memory[len(g.Buffers)-places : len(g.Buffers)]
			first := ring[0]
			copy(ring, ring[1:])
			ring[places-1] = first
		})
	}
}

// Whatever replays that follow one another keep apart, copies do: what is ordered after something
// comes before that runs again, and so does a host call.
func TestCopiesKeepTheOrderThatAccessesDoNotShow(t *testing.T) {
	g := graphOf(t, "g", 0, nil)
	g.Ops = []ir.Op{
		{Kind: ir.KindEmpty, Cost: 10},
		{Kind: ir.KindEmpty, Cost: 10, After: []ir.OpID{0}},
		{Kind: ir.KindHost, Label: "f", Cost: -1},
	}
	g.Phase = ir.Traced
	h := edited(t, g, "unroll(3)")
	var got [][]ir.OpID
	for _, op := range h.Ops {
		got = append(got, op.After)
	}
	assert.Equal(t, [][]ir.OpID{
		nil, {0}, nil,
		{1}, {1, 3}, {2},
		{4}, {4, 6}, {5},
	}, got)
}

// Two uploads and the work on them, three times: with one memory the second upload waits for the
// first work; with two it does not, and the third waits for that.
func TestRenamingLetsUploadsRunAhead(t *testing.T) {
	f, err := ir.Parse("", `graph g {
  module m "m.ptx"
  buffer @x f32[64] device(0) input
  buffer @h f32[64] pinned input
  buffer @y f32[64] device(0) output
  %0 = copy @h -> @x
  %1 = launch m.k grid(1) block(64) args(@x, @y) uses(read @x, readwrite @y)
}
`)
	require.NoError(t, err)
	waits := func(passes ...string) (got [][]ir.OpID) {
		g, err := reduceOf(edited(t, f.Graph, passes...))
		require.NoError(t, err)
		for v := range g.Ops {
			var from []ir.OpID
			for _, d := range g.DepsInto(ir.OpID(v)) {
				from = append(from, d.From)
			}
			got = append(got, from)
		}
		return got
	}
	assert.Equal(t, [][]ir.OpID{nil, {0}, {1}, {2}, {3}, {4}}, waits("unroll(3)"))
	assert.Equal(t, [][]ir.OpID{nil, {0}, nil, {1, 2}, {1}, {3, 4}}, waits("unroll(3)", "rename(2)"))
	assert.Equal(t, [][]ir.OpID{nil, {0}, nil, {1, 2}, nil, {3, 4}}, waits("unroll(3)", "rename(9)"))
}

// Of three copies of a round trip dce leaves the last, which is what three replays leave.
func TestUnrolledCountsCopiesThatAreLeftOut(t *testing.T) {
	f, err := ir.Parse("", `graph g {
  buffer @x f32[64] device(0) input
  buffer @h f32[64] pinned input
  buffer @y f32[64] pinned output
  %0 = copy @h -> @x
  %1 = copy @x -> @y
}
`)
	require.NoError(t, err)
	opts := Options{Also: []string{"unroll(3)", "dce"}}
	res, err := Plan(f.Graph, opts)
	require.NoError(t, err)
	p, err := opts.profile()
	require.NoError(t, err)
	require.Equal(t, 2, res.Graph.Len())
	u := unrolledOf(res.Schedule, p)
	assert.Equal(t, 3, u.Copies)
	assert.InDelta(t, float64(res.Schedule.Predicted)/3000, u.CopyUS, 1e-9)

	opts.Also = append(opts.Also, "rename(2)") // of @x, which the copies that are left share
	res, err = Plan(f.Graph, opts)
	require.NoError(t, err)
	require.Equal(t, 1, res.Graph.Made)
	assert.Zero(t, unrolledOf(res.Schedule, p).Bytes, "nothing uses it")
}

func reduceOf(g *ir.Graph) (*ir.Graph, error) {
	g, err := hazards(g)
	if err != nil {
		return nil, err
	}
	return reduce(g)
}

func TestMistakesInUnrolling(t *testing.T) {
	g := irtest.Random(rand.New(rand.NewPCG(53, 53)), 5)
	g.Name = "g"
	g.Ops = append(g.Ops, ir.Op{Kind: ir.KindHost, Label: "print", Cost: -1, Uses: []ir.Access{{Range: ir.Range{Buffer: ir.BufferID(len(g.Buffers)), Hi: 16}}}})
	g.Buffers = append(slices.Clone(g.Buffers),
		ir.Buffer{Name: "h", Elem: ir.F32, Len: 4, Place: ir.Place{Kind: ir.PinnedHost}}, ir.Buffer{Name: "i", Elem: ir.F32, Len: 4, Place: ir.Place{Kind: ir.PinnedHost}},
		ir.Buffer{Name: "u", Elem: ir.F32, Len: 4}, ir.Buffer{Name: "v", Elem: ir.F32, Len: 4},
		ir.Buffer{Name: "long", Elem: ir.F32, Len: 5}, ir.Buffer{Name: "fixed", Elem: ir.F32, Len: 4, Role: ir.Constant})
	for _, c := range []struct {
		also []string
		want string
	}{
		{[]string{"unroll"}, "pass unroll lacks its parameter: write unroll(k)"},
		{[]string{"unroll()"}, "pass unroll lacks its parameter: write unroll(k)"},
		{[]string{"unroll(0)"}, `pass unroll takes a number of copies from 1 to 2097152, not "0"`},
		{[]string{"unroll(4"}, `pass "unroll(4" is not of the form name or name(parameter); in a shell, quote it`},
		{[]string{"dce(2)"}, "pass dce takes no parameter: write dce"},
		{[]string{"rename(2)"}, `the pass "rename" needs "unroll", which is left out; name it too`},
		{[]string{"unroll(999999)"}, "unroll: 999999 copies of 6 operations exceed the limit of 2097152 operations: use unroll(349525) at most"},
		{[]string{"unroll(2)", "unroll(2)"}, "the pass unroll is named twice, as unroll(2) and unroll(2): name it once"},
		{[]string{"unroll(2)", "rename(2)", "rename(3)"}, "the pass rename is named twice, as rename(2) and rename(3): name it once"},
		{[]string{"unroll(6)", "rotate(u:v)", "rotate(w:x:v)"}, "rotate(u:v) and rotate(w:x:v) both move v: have each buffer in one"},
		{[]string{"unroll(2)", "rotate(i:h)"}, "rotate: @h is used by a host call, or by a kernel through a pointer that is not an argument: it cannot be rotated"},
		{[]string{"unroll(2)", "rotate(u)"}, `pass rotate takes two buffers or more, with colons between them, not "u"`},
		{[]string{"unroll(2)", "rotate(u:u)"}, "rotate: @u is named twice: name every buffer once"},
		{[]string{"unroll(2)", "rotate(u:lon)"}, `rotate: g has no buffer @lon (did you mean "long"?)`},
		{[]string{"unroll(2)", "rotate(u:long)"}, "rotate: @long differs from @u in type, length or place: rotate only equal buffers"},
		{[]string{"unroll(2)", "rotate(u:fixed)"}, "rotate: @fixed is constant: rotate only buffers that are written"},
		{[]string{"unroll(3)", "rotate(u:v)"}, "rotate: 2 buffers do not return to their places after 3 copies: unroll a multiple of 2"},
	} {
		_, err := Plan(g, Options{Also: c.also})
		assert.EqualError(t, err, c.want)
	}
	res, err := Plan(g, Options{})
	require.NoError(t, err)
	_, err = Plan(res.Graph, Options{Also: []string{"unroll(2)"}})
	assert.EqualError(t, err, "unroll: g already has dependencies, and those between copies are unknown: unroll the trace instead")
}
