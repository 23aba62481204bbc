package programs

import (
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/internal/null"
	"github.com/reprise-gpu/reprise/internal/ptx"
	"github.com/reprise-gpu/reprise/internal/ptx/access"
	"github.com/reprise-gpu/reprise/ir"
)

// TestAccesses states the bytes that parts of the launches access, as package access infers them. A part is consecutive
// rows of blocks, or consecutive blocks of a grid with one axis. Where the bytes of parts that are written overlap, or what a
// part reads grows, several devices can no longer share the launch, or exchange more.
func TestAccesses(t *testing.T) {
	datadriven.Walk(t, "testdata/access", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			var parts int
			d.ScanArgs(t, "parts", &parts)
			_, trace := recorded(t, null.New(), d.Input)
			var b strings.Builder
			for i := range trace.Graph.Ops {
				printParts(t, &b, trace.Graph, trace.Graph.Ops[i].Launch, uint32(parts))
			}
			return b.String()
		})
	})
}

func printParts(t *testing.T, b *strings.Builder, g *ir.Graph, l *ir.Launch, parts uint32) {
	module, err := ptx.Parse("", g.Modules[l.Module].Source)
	require.NoError(t, err)
	f := module.Func(l.Entry)
	fp := access.NewFootprint(module, f)
	launch := access.Launch{Grid: extents(l.Grid), Block: extents(l.Block), Params: parameters(f, l)}
	fmt.Fprintf(b, "%s: %v blocks\n", l.Entry, l.Grid)
	axis := 0
	if l.Grid.Y > 1 {
		axis = 1
	}
	blocks := launch.Grid[axis]
	parts = min(parts, blocks)
	for part := range parts {
		first, count := [3]uint32{}, launch.Grid
		first[axis] = part * blocks / parts
		count[axis] = (part+1)*blocks/parts - first[axis]
		fmt.Fprintf(b, "  %d to %d\n", first[axis], first[axis]+count[axis]-1)
		within := launch.Within(first, count)
		reach := make([]access.Reach, len(fp.Effects.Params))
		fp.Eval(&within, reach)
		for row, r := range reach {
			a := l.Args[fp.Effects.Params[row].Param]
			if a.Kind == ir.ArgBuffer {
				fmt.Fprintf(b, "    %s:%s%s\n", g.Buffers[a.Buffer].Name, span("reads", r.Read), span("writes", r.Write))
			}
		}
	}
}

func span(verb string, s access.Span) string {
	if s.Empty() {
		return ""
	}
	return fmt.Sprintf(" %s [%d, %d)", verb, s.Lo, s.Hi)
}

func extents(d ir.Dim3) [3]uint32 { return [3]uint32{d.X, d.Y, d.Z} }

// parameters is the parameter block of a launch, with each buffer at an address of its own.
func parameters(f *ptx.Func, l *ir.Launch) []byte {
	block := make([]byte, f.ParamBytes())
	for i, a := range l.Args {
		var word [8]byte
		binary.LittleEndian.PutUint64(word[:], a.Scalar.Bits)
		if a.Kind == ir.ArgBuffer {
			binary.LittleEndian.PutUint64(word[:], uint64(a.Buffer+1)<<40+uint64(a.Offset))
		}
		copy(block[f.Params[i].Offset:], word[:f.Params[i].Size()])
	}
	return block
}
