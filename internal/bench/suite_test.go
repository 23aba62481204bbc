package bench

import (
	"slices"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/graphexec"
	"github.com/reprise-gpu/reprise/internal/sim"
	"github.com/reprise-gpu/reprise/ir"
)

// recorded returns a workload on a sampled device, with or without AsSuite.
func recorded(t *testing.T, w *Workload, asSuite bool) *Instance {
	dev, err := sim.New(sim.Options{Profile: "gtx1660s", Sample: 1})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, dev.Close()) })
	in, err := w.New(dev, Params{Size: w.Tiny, Sampled: true, AsSuite: asSuite})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, in.Close()) })
	return in
}

// launched returns the operations that launch a kernel.
func launched(in *Instance, entry string) (ops []*ir.Op) {
	for i := range in.Trace.Graph.Ops {
		if o := &in.Trace.Graph.Ops[i]; o.Launch != nil && o.Launch.Entry == entry {
			ops = append(ops, o)
		}
	}
	return ops
}

// TestUnsharpenAsSuiteWrites expects that AsSuite orders the two blurs that read the image before unsharpen. The third
// blur precedes it in any case.
func TestUnsharpenAsSuiteWrites(t *testing.T) {
	edges := map[bool]int{}
	for _, asSuite := range []bool{false, true} {
		in := recorded(t, img, asSuite)
		plan, err := in.Plan(in.program.dev, "nimble", graphexec.Graph)
		require.NoError(t, err)
		edges[asSuite] = len(plan.Analyzed.Deps())
	}
	assert.Equal(t, edges[false]+2, edges[true])
}

// TestPoolingAsSuiteHasBlocksToSpare expects 176 blocks on 22 multiprocessors, and a quarter of that along each axis.
func TestPoolingAsSuiteHasBlocksToSpare(t *testing.T) {
	pools := launched(recorded(t, dl, true), "mean_pooling")
	require.Len(t, pools, 2)
	assert.Equal(t, ir.Dim3{X: 44, Y: 44, Z: 44}, pools[0].Launch.Grid)
	assert.NotEqual(t, pools[0].Launch.Grid, launched(recorded(t, dl, false), "mean_pooling")[0].Launch.Grid)
}

// TestHITSAsSuiteHasOneMatrix expects equal matrices with AsSuite; otherwise one is the transpose of the other.
func TestHITSAsSuiteHasOneMatrix(t *testing.T) {
	for _, memory := range []Memory{Pinned, Managed} {
		for _, asSuite := range []bool{false, true} {
			dev, err := sim.New(sim.Options{Sample: 1})
			require.NoError(t, err)
			defer dev.Close()
			p := Params{Size: 1000, Memory: memory, Sampled: true, AsSuite: asSuite, Seed: 1}
			in, err := hits.New(dev, p)
			require.NoError(t, err)
			defer in.Close()
			require.NoError(t, in.Reset())

			edges := hitsEdges(&p)
			from, into := edges.Graph(), edges.Transpose()
			if asSuite {
				into = from
			}
			for name, want := range map[string][]int32{"ptr": from.Ptr, "idx": from.Idx, "ptr2": into.Ptr, "idx2": into.Idx} {
				got := make([]int32, len(want))
				b := slices.IndexFunc(in.Trace.Graph.Buffers, func(b ir.Buffer) bool { return b.Name == name })
				require.GreaterOrEqual(t, b, 0)
				raw := unsafe.Slice((*byte)(unsafe.Pointer(&got[0])), 4*len(got))
				require.NoError(t, dev.Read(raw, in.Trace.Pointer(ir.BufferID(b))))
				assert.Equal(t, want, got, name)
			}
		}
	}
}

func TestAsSuiteIsForSamples(t *testing.T) {
	dev, err := sim.New(sim.Options{})
	require.NoError(t, err)
	defer dev.Close()
	_, err = img.New(dev, Params{Size: img.Tiny, AsSuite: true})
	assert.ErrorIs(t, err, errSuiteResults)
}
