package tracer_test

import (
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/internal/null"
	"github.com/reprise-gpu/reprise/internal/sim"
	"github.com/reprise-gpu/reprise/ir"
	"github.com/reprise-gpu/reprise/tracer"
)

// perBlock traces a launch of four blocks of eight threads of a kernel with the given body. x has 40 elements, of which
// each block is declared to touch eight, and halo further ones on either side.
func perBlock(body string, halo int64) (*tracer.Trace, error) {
	tr := tracer.New(null.New(), "declared", tracer.Deferred)
	x, y := tr.Alloc("x", ir.I32, 40, ir.InOut), tr.Alloc("y", ir.I32, 40, ir.InOut)
	tr.Launch(tr.Module("k.ptx", sliceKernel(body)).Kernel("k"), tracer.Linear(4, 8), tracer.PerBlock{Buffer: x, Bytes: 32, Before: 4 * halo, After: 4 * halo}, y, 32)
	return tr.Finish()
}

const (
	loadedIndex = "add.s64 %rd10, %rd2, %rd8; ld.global.u32 %r6, [%rd10]; mul.wide.u32 %rd3, %r6, 4; add.s64 %rd4, %rd1, %rd3; st.global.u32 [%rd4], %r1;"
	rightOf     = "ld.global.u32 %r6, [%rd9+8];"
)

// A declaration narrows only what is not known, and goes through text.
func TestDeclaredBytesNarrowAccesses(t *testing.T) {
	trace, err := perBlock(loadedIndex, 1)
	require.NoError(t, err)
	text := ir.Print(trace.Graph)
	assert.Contains(t, text, "args(@x, @y, i32=32) maps(0 of 160 every 32 before 4 after 4) uses(write @x[0:132], read @y[0:128])")
	require.NoError(t, ir.Verify(trace.Graph))

	trace, err = perBlock(rightOf, 2)
	require.NoError(t, err)
	assert.Contains(t, ir.Print(trace.Graph), "uses(read @x[8:136])", "the bytes that are known to be touched")
}

func TestADeclarationWithoutTouchedBytesIsRefused(t *testing.T) {
	_, err := perBlock(rightOf, 1)
	require.ErrorContains(t, err, "launch of k: argument 0 (x): block (0,0,0) is declared to touch only @x[0:36], but reads @x[36:40] in thread (7,0,0) (k.ptx:")
	require.ErrorContains(t, err, "declare all bytes that it touches")
}

func TestBadDeclarations(t *testing.T) {
	for _, c := range []struct {
		declared tracer.PerBlock
		want     string
	}{
		{tracer.PerBlock{Bytes: 0}, "argument 0 (x): @x is declared with 0 bytes for each block: declare from 1 to the 160 that it has"},
		{tracer.PerBlock{Bytes: 161}, "declared with 161 bytes for each block"},
		{tracer.PerBlock{Bytes: 32, Before: -1}, "declared with -1 bytes before those of a block and 0 after: declare 0 or more"},
	} {
		tr := tracer.New(null.New(), "declared", tracer.Deferred)
		c.declared.Buffer = tr.Alloc("x", ir.I32, 40, ir.InOut)
		tr.Launch(tr.Module("k.ptx", sliceKernel(loadedIndex)).Kernel("k"), tracer.Linear(4, 8), c.declared, c.declared.Buffer, 32)
		_, err := tr.Finish()
		require.ErrorContains(t, err, c.want)
	}
	tr := tracer.New(null.New(), "declared", tracer.Deferred)
	tr.Launch(tr.Module("k.ptx", sliceKernel(loadedIndex)).Kernel("k"), tracer.Linear(4, 8), tracer.PerBlock{}, tr.Alloc("x", ir.I32, 40, ir.InOut), 32)
	_, err := tr.Finish()
	require.Error(t, err, "a zero Buffer")
}

// The simulator finds a block that touches bytes that are not declared, in eager programs and with the block named.
func TestTheSimulatorFindsUndeclaredAccesses(t *testing.T) {
	for _, far := range []uint32{8, 9} {
		dev, err := sim.New(sim.Options{Race: sim.RaceOn})
		require.NoError(t, err)
		tr := tracer.New(dev, "declared", tracer.Eager)
		x, y := tr.Alloc("x", ir.I32, 40, ir.InOut), tr.Alloc("y", ir.I32, 40, ir.InOut)
		index := make([]byte, 160)
		for i := range uint32(40) {
			binary.LittleEndian.PutUint32(index[4*i:], i)
		}
		binary.LittleEndian.PutUint32(index[4*7:], far)
		require.NoError(t, tracer.Write(y, index))
		tr.Launch(tr.Module("k.ptx", sliceKernel(loadedIndex)).Kernel("k"), tracer.Linear(4, 8), tracer.PerBlock{Buffer: x, Bytes: 32, After: 4}, y, 32)
		_, err = tr.Finish()
		if far == 8 {
			require.NotContains(t, errText(err), "undeclared")
		} else {
			require.ErrorContains(t, err, "undeclared access: bytes 36-39 of @x")
			require.ErrorContains(t, err, "k at tracer/perblock_test.go:83, stream 1, writes, block (0,0,0), thread (7,0,0), k.ptx:19")
			require.ErrorContains(t, err, "the launch declares that this block touches only bytes 0-35: declare all that it touches, or nothing")
		}
		dev.Close()
	}
}

func errText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
