package opname_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/internal/opname"
	"github.com/reprise-gpu/reprise/ir"
)

const program = `graph g {
  module m "m.ptx"
  buffer @x f32[4] inout
  buffer @y f32[4] inout
  %0 = memset @x u32=0
  %1 = launch m.axpy grid(1) block(1) args(@x) uses(readwrite @x)
  %2 = launch m.axpy grid(1) block(1) args(@y) uses(readwrite @y)
  %3 = launch m.axpy grid(1) block(1) args(@y) uses(readwrite @y) label("axpy#2")
  %4 = launch m.norm grid(1) block(1) args(@x) uses(readwrite @x) label("residual")
  %5 = copy @x -> @y
  %6 = copy @y -> @x
  %7 = copy @x -> @y
  %8 = loop until @x[0:4] below 1 max(9) label("solve") {
    %0 = launch m.axpy grid(1) block(1) args(@x) uses(readwrite @x)
    %1 = branch if @x[0:4] above 1 {
      %0 = empty
    } else {
      %0 = launch m.scale grid(1) block(1) args(@x) uses(readwrite @x)
    }
  }
  %9 = host "look" uses(read @x)
}
`

func parse(t *testing.T, text string) *ir.Graph {
	f, err := ir.Parse("g.rir", text)
	require.NoError(t, err)
	return f.Graph
}

func TestNames(t *testing.T) {
	var names []string
	for _, at := range opname.All(parse(t, program)) {
		names = append(names, at.Name)
	}
	assert.Equal(t, []string{
		"memset:x", "axpy#1", "axpy#3", "axpy#2", "residual", "copy:y#1", "copy:x", "copy:y#2",
		"solve", "solve/axpy", "solve/branch", "solve/branch/empty", "solve/branch/else/scale", "look",
	}, names)
}

// TestFind finds every operation by its name, and by other names that are unambiguous.
func TestFind(t *testing.T) {
	g := parse(t, program)
	for _, at := range opname.All(g) {
		found, err := opname.Find(g, at.Name)
		require.NoError(t, err, at.Name)
		assert.Equal(t, at, found)
	}
	for text, want := range map[string]string{
		"%4": "residual", "norm": "residual", "%8/%0": "solve/axpy", "%8/%1/else/%0": "solve/branch/else/scale", "scale": "solve/branch/else/scale", "solve/%0": "solve/axpy",
	} {
		found, err := opname.Find(g, text)
		switch {
		case text == "solve/%0":
			require.NoError(t, err)
			assert.Equal(t, "solve/axpy", found.Name)
		default:
			require.NoError(t, err, text)
			assert.Equal(t, want, found.Name, text)
		}
	}
	for text, want := range map[string]string{
		"axpy": "4 operations are called axpy: use the name of one of axpy#1, axpy#3, axpy#2, solve/axpy", "residuel": "no operation residuel in g (did you mean residual?)",
		"%04": "no operation %04 in g: it has memset:x, axpy#1, axpy#3, axpy#2, residual, copy:y#1, copy:x, copy:y#2, 6 more",
	} {
		_, err := opname.Find(g, text)
		assert.EqualError(t, err, want)
	}
}

// TestNamesOfPlans gives operations the names of the recorded program, with what tells parts and copies apart.
func TestNamesOfPlans(t *testing.T) {
	recorded := parse(t, program)
	g := *recorded
	g.Recorded = recorded.Ops
	g.Ops = []ir.Op{recorded.Ops[2], recorded.Ops[2], recorded.Ops[4], recorded.Ops[4], recorded.Ops[1], recorded.Ops[5]}
	g.Origin = []ir.OpID{2, 2, 4, 4, 1, 5}
	g.Sliced = map[ir.OpID]struct{ First, Blocks, Of uint32 }{2: {0, 8, 16}, 3: {8, 8, 16}, 5: {1, 1, 4}}
	g.Merged = map[ir.OpID][]struct {
		Op       ir.OpID
		Launch   *ir.Launch
		Barriers int
	}{4: {{Op: 1}, {Op: 2}}}
	names := opname.Of(&g)
	for v, want := range []string{"axpy#3@1", "axpy#3@2", "residual, blocks 0 to 7 of 16", "residual, blocks 8 to 15 of 16", "axpy#1+axpy#3", "copy:y#1, part 2 of 4"} {
		assert.Equal(t, want, names.Of(ir.OpID(v)))
	}
	assert.True(t, names.Is(4, "axpy#3") && names.Is(4, "%2") && names.Is(0, "axpy#3") && !names.Is(2, "axpy#3"))
}

// TestLabelsArePrintable expects escapes for what a terminal would obey, and finds the operation by them and by the label.
func TestLabelsArePrintable(t *testing.T) {
	g := parse(t, "graph g {\n  buffer @x f32[4] inout\n  %0 = memset @x u32=0 label(\"a\\x1b[31m\\nb\")\n  %1 = memset @x u32=0 label(\"größe µ\")\n}\n")
	n := opname.Of(g)
	assert.Equal(t, `a\x1b[31m\nb`, n.Of(0))
	assert.Equal(t, "größe µ", n.Of(1))
	for _, text := range []string{n.Of(0), "a\x1b[31m\nb"} {
		at, err := opname.Find(g, text)
		require.NoError(t, err)
		assert.Equal(t, ir.OpID(0), at.Op)
	}
}
