package programs

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/graphexec"
	"github.com/reprise-gpu/reprise/internal/null"
	"github.com/reprise-gpu/reprise/internal/sim"
	"github.com/reprise-gpu/reprise/ir"
	"github.com/reprise-gpu/reprise/optimizer"
	"github.com/reprise-gpu/reprise/tracer"
)

// recorded records a program on a device.
func recorded(t testing.TB, dev device.Device, text string) (*Instance, *tracer.Trace) {
	t.Helper()
	p, err := Parse(text)
	require.NoError(t, err)
	tr := tracer.New(dev, p.String(), tracer.Deferred)
	in := p.Record(tr)
	trace, err := tr.Finish()
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, trace.Close()) })
	return in, trace
}

// replayed replays a program from its start on the simulated device, which reports races and reads of memory that was
// never written.
func replayed(t testing.TB, text string, replays int) (*Instance, *tracer.Trace) {
	t.Helper()
	dev, err := sim.New(sim.Options{Race: sim.RaceOn})
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, dev.Close()) })
	in, trace := recorded(t, dev, text)
	plan, err := optimizer.Plan(trace.Graph, optimizer.Options{Strategy: "nimble", Verify: true})
	require.NoError(t, err)
	exec, err := graphexec.Instantiate(dev, plan.Schedule, trace, graphexec.Graph)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, exec.Close()) })
	require.NoError(t, in.Start(tracer.Write[byte]))
	require.NoError(t, exec.ReplayN(context.Background(), replays))
	require.NoError(t, exec.Wait(context.Background()))
	return in, trace
}

// requireResults replays a program at several sizes and compares it with the CPU.
func requireResults(t *testing.T, replays int, sizes ...string) {
	t.Helper()
	for _, text := range sizes {
		in, _ := replayed(t, text, replays)
		diff, err := in.Check(replays, tracer.Read[byte])
		require.NoError(t, err, text)
		t.Logf("%s: greatest relative error %.2g", text, diff)
		assert.Positive(t, diff, "%s: the kernels compute in single precision", text)
	}
}

// TestCheckComparesEveryElement changes one element of each result.
func TestCheckComparesEveryElement(t *testing.T) {
	for _, k := range Kinds() {
		in, _ := replayed(t, k.Name+":"+k.Tiny, 1)
		for _, wrong := range in.Results() {
			_, err := in.Check(1, func(contents []byte, b tracer.Buffer) error {
				err := tracer.Read(contents, b)
				if b == wrong {
					contents[len(contents)-1] ^= 0x40 // in the exponent
				}
				return err
			})
			assert.ErrorContains(t, err, wrong.Declaration().Name+" differs from the CPU reference", k.Name)
		}
	}
}

// TestCheckNeedsTheReplays expends one replay less than the check assumes.
func TestCheckNeedsTheReplays(t *testing.T) {
	for _, k := range Kinds() {
		if k == rsim {
			continue // each replay is a whole run
		}
		in, _ := replayed(t, k.Name+":"+k.Tiny, 1)
		_, err := in.Check(2, tracer.Read[byte])
		assert.ErrorContains(t, err, "after 2 replays: ", k.Name)
	}
}

func TestStartsAreEqual(t *testing.T) {
	for _, k := range Kinds() {
		in, trace := recorded(t, null.New(), k.Name+":"+k.Tiny)
		var first, second [][]byte
		keep := func(list *[][]byte) func(tracer.Buffer, []byte) error {
			return func(b tracer.Buffer, contents []byte) error {
				assert.EqualValues(t, b.Bytes(), len(contents))
				*list = append(*list, append([]byte(nil), contents...))
				return nil
			}
		}
		require.NoError(t, in.Start(keep(&first)))
		require.NoError(t, in.Start(keep(&second)))
		assert.Equal(t, first, second, k.Name)
		temporaries := 0
		for _, b := range trace.Graph.Buffers {
			if b.Role == ir.Temporary {
				temporaries++
			}
		}
		assert.Len(t, first, len(trace.Graph.Buffers)-temporaries, "%s: a start for every buffer", k.Name)
	}
}

func TestParse(t *testing.T) {
	for text, want := range map[string]string{
		"wave": "wave:512x512", "wave:64": "wave:64x64", "wave:64x32": "wave:64x32",
		"nbody": "nbody:4096", "nbody:1": "nbody:1",
		"rsim": "rsim:1024x50", "rsim:64": "rsim:64x50", "rsim:1024x500": "rsim:1024x500",
		"jacobi": "jacobi:512x10", "jacobi:3x2": "jacobi:3x2",
		"matmul": "matmul:512x512x512", "matmul:9": "matmul:9x9x9", "matmul:9x8": "matmul:9x8x9", "matmul:9x8x7": "matmul:9x8x7",
	} {
		p, err := Parse(text)
		require.NoError(t, err)
		assert.Equal(t, want, p.String())
	}
	for text, want := range map[string]string{
		"waves":           `unknown program "waves" (did you mean "wave"?); there are wave, nbody, rsim, jacobi, matmul`,
		"":                `unknown program ""; there are wave, nbody, rsim, jacobi, matmul`,
		"wave:":           `program wave:: "" is not a number: write wave:512x512`,
		"wave:1x2x3":      "program wave:1x2x3: 3 extents, but the size is ROWSxCOLS, 512x512 if left out",
		"wave:0":          "program wave:0: rows is 0: use 1 to 262140",
		"wave:2x262141":   "program wave:2x262141: cols is 262141: use 1 to 262140",
		"wave:262140":     "program wave:262140: an array has 68717379600 elements, and the kernels index 2^31-1 at most: use smaller extents",
		"jacobi:512x3":    "program jacobi:512x3: steps per replay is 3: use an even number, after which the buffers have their roles back",
		"jacobi:2":        "program jacobi:2: side is 2: use 3 to 262140",
		"rsim:1000x-1":    "program rsim:1000x-1: steps is -1: use 1 to 262140",
		"nbody:many":      `program nbody:many: "many" is not a number: write nbody:4096`,
		"matmul:1x65536x": `program matmul:1x65536x: "" is not a number: write matmul:512x512x512`,
	} {
		_, err := Parse(text)
		assert.EqualError(t, err, want)
	}
}

func TestLargestProgramsAreRecorded(t *testing.T) {
	for _, text := range []string{"wave:46340", "jacobi:46340x2", "rsim:46340x1", "matmul:46340", "nbody:262140"} {
		recorded(t, null.New(), text)
	}
}

func TestKindsDescribeTheirSizes(t *testing.T) {
	for _, k := range Kinds() {
		p, err := Parse(k.Name)
		require.NoError(t, err)
		assert.True(t, strings.HasSuffix(k.Size(), strings.TrimPrefix(p.String(), k.Name+":")+" if left out"), k.Size())
		assert.NotEmpty(t, k.Doc)
	}
}
