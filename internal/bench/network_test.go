package bench

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/internal/sim"
	"github.com/reprise-gpu/reprise/ir"
)

// TestNetworksMatchTheReference compares whole networks, at extents that no stride divides and with several images. The
// race detector takes ten times as long, so it watches the smallest.
func TestNetworksMatchTheReference(t *testing.T) {
	for _, c := range []struct {
		network *Workload
		params  Params
		race    sim.Race
	}{
		{resnet18, Params{Size: 20}, sim.RaceOff},
		{resnet50, Params{Size: 9}, sim.RaceOff},
		{mobilenetV2, Params{Size: 33, Batch: 2, Threads: 32}, sim.RaceOff},
		{resnet18, Params{Size: 8, Seed: 2}, sim.RaceOn},
	} {
		dev, in := replayedOnce(t, openWith(t, sim.Options{Race: c.race}), c.network, c.params)
		_, err := in.Check()
		require.NoError(t, err, "%s %+v", c.network.Name, c.params)
		nan := math.Float32bits(float32(math.NaN()))
		assert.ErrorContains(t, checkAfter(t, dev, in, "classifier", 7, nan), "logits differs from the CPU reference in 1 of ")
		assert.ErrorContains(t, checkAfter(t, dev, in, "probabilities_host", 1000*max(1, c.params.Batch)-1, nan), "probabilities[")
		require.NoError(t, in.Reset())
		_, err = in.Check()
		assert.Error(t, err, "nothing has run")
	}
}

// TestLargeNetworksAreCheckedLayerByLayer changes the last activation of layers, which is always among those compared.
func TestLargeNetworksAreCheckedLayerByLayer(t *testing.T) {
	large := newResNet("resnet18", "ResNet-18", [4]int{1, 1, 1, 0}, false)
	large.maxTerms = 0
	dev, in := replayedOnce(t, openWith(t, sim.Options{}), large.workload(), Params{Size: 20})
	_, err := in.Check()
	require.NoError(t, err)
	for layer, last := range map[string]int{
		"conv1": 64*10*10 - 1, "pool": 64*5*5 - 1, "layer3.0.shortcut": 256*2*2 - 1, "layer3.0.conv2": 256*2*2 - 1, "mean": 255, "classifier": 999, "probabilities_host": 999,
	} {
		assert.Error(t, checkAfter(t, dev, in, layer, last, math.Float32bits(-1)), layer)
	}
}

// TestNetworksHaveThePublishedSizes compares the learned parameters and the multiply-adds of convolutions with those of
// torchvision. Batch norm has two parameters per channel there, which are folded into one here.
func TestNetworksHaveThePublishedSizes(t *testing.T) {
	for _, c := range []struct {
		network                *Workload
		parameters, terms, ops int
	}{
		{resnet18, 11_689_512, 1_814_073_344, 67},
		{resnet50, 25_557_032, 4_089_184_256, 133},
		{mobilenetV2, 3_504_872, 300_774_272, 94},
	} {
		dev := openWith(t, sim.Options{Profile: "v100", Sample: 1})
		for _, batch := range []int{1, 20} {
			in, err := c.network.New(dev, Params{Size: 224, Batch: batch, Sampled: true})
			require.NoError(t, err)
			parameters := int64(0)
			for _, b := range in.Trace.Graph.Buffers {
				if b.Role == ir.Constant {
					parameters += b.Len
				}
				if strings.HasSuffix(b.Name, ".bias") && b.Name != "classifier.bias" {
					parameters += b.Len
				}
			}
			assert.EqualValues(t, c.parameters, parameters, c.network.Name)
			assert.EqualValues(t, c.terms*batch, multiplyAdds(in), c.network.Name)
			assert.Equal(t, c.ops, in.Trace.Graph.Len(), c.network.Name)
			require.NoError(t, in.Close())
		}
	}
}

// multiplyAdds counts the multiply-adds of convolutions by the arguments of their launches.
func multiplyAdds(in *Instance) (n uint64) {
	number := func(op *ir.Op, i int) uint64 { return op.Launch.Args[i].Scalar.Bits }
	for _, name := range []string{"gemm_128x64", "gemm_64x64", "gemm_thin"} {
		for _, op := range launched(in, name) {
			n += number(op, 3) * number(op, 4) * number(op, 5)
		}
	}
	for _, op := range launched(in, "depthwise") {
		channels, images, rows, cols, stride := number(op, 4), number(op, 5), number(op, 6), number(op, 7), number(op, 8)
		n += channels * images * ((rows-1)/stride + 1) * ((cols-1)/stride + 1) * 9
	}
	return n
}

// TestShortcutsAreIndependent expects that no dependency orders the convolution of a shortcut and those of its block, but
// the one that adds the shortcut.
func TestShortcutsAreIndependent(t *testing.T) {
	for n, beside := range map[*Workload][]string{resnet18: {"conv1"}, resnet50: {"conv1", "conv2"}} {
		in, err := n.New(openWith(t, sim.Options{Sample: 1}), Params{Size: 64, Sampled: true})
		require.NoError(t, err)
		plan := planned(t, in, "nimble")
		assert.Equal(t, 2, plan.Schedule.Lanes, n.Name)
		for _, stage := range []string{"layer2.0.", "layer3.0.", "layer4.0."} {
			shortcut := writerOf(t, in, stage+"shortcut")
			for _, name := range beside {
				conv := writerOf(t, in, stage+name)
				assert.False(t, ordered(plan.Analyzed, conv, shortcut), "%s: %s%s before its shortcut", n.Name, stage, name)
				assert.False(t, ordered(plan.Analyzed, shortcut, conv), "%s: the shortcut before %s%s", n.Name, stage, name)
			}
		}
		first, last := writerOf(t, in, "conv1"), writerOf(t, in, "classifier")
		assert.True(t, ordered(plan.Analyzed, first, last))
		require.NoError(t, in.Close())
	}
}

// writerOf returns the launch whose first argument is the buffer.
func writerOf(t *testing.T, in *Instance, buffer string) ir.OpID {
	t.Helper()
	at := slices.IndexFunc(in.Trace.Graph.Ops, func(op ir.Op) bool {
		return op.Launch != nil && in.Trace.Graph.Buffers[op.Launch.Args[0].Buffer].Name == buffer
	})
	require.GreaterOrEqual(t, at, 0, buffer)
	return ir.OpID(at)
}

// ordered reports whether dependencies lead from one operation to another. All of them lead to later operations.
func ordered(g *ir.Graph, from, to ir.OpID) bool {
	reached := make([]bool, g.Len())
	reached[from] = true
	for range g.Len() {
		for _, d := range g.Deps() {
			reached[d.To] = reached[d.To] || reached[d.From]
		}
	}
	return reached[to]
}

// TestServedWorkloadsRunByNameOnly keeps them out of the default runs.
func TestServedWorkloadsRunByNameOnly(t *testing.T) {
	for _, w := range ServedWorkloads() {
		assert.False(t, slices.Contains(Workloads(), w))
		found, err := LookupWorkload(w.Name)
		require.NoError(t, err)
		assert.Same(t, w, found)
	}
}
