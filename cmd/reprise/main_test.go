package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/device/model"
	"github.com/reprise-gpu/reprise/internal/bench"
	"github.com/reprise-gpu/reprise/internal/profiles"
)

// reprise runs the program and returns what it printed and its exit status.
func reprise(args ...string) (stdout, stderr string, status int) { return piped("", args...) }

// piped is reprise with a standard input.
func piped(stdin string, args ...string) (stdout, stderr string, status int) {
	var out, errs bytes.Buffer
	status = run(args, strings.NewReader(stdin), &out, &errs)
	return out.String(), errs.String(), status
}

// positions matches the source positions in package bench, whose line numbers are not part of a golden.
var positions = regexp.MustCompile(`(bench/\w+\.go):\d+`)

// ticking returns a clock of the host on which everything takes 100 us.
func ticking() func() time.Time {
	now := time.Unix(0, 0)
	return func() time.Time {
		now = now.Add(100 * time.Microsecond)
		return now
	}
}

// TestCommands runs command lines, one per line of input. In them, and in the
// output, $DIR is a folder that the file command fills and $KERNELS the folder of
// the compiled kernels. Line numbers of package bench are printed as NN.
//
//	file NAME      writes its input to $DIR/NAME
//	run [NAME]     runs its input, with $DIR/NAME as standard input; prints standard output, then
//	               standard error with "! " before each line, then the exit status unless 0
func TestCommands(t *testing.T) {
	findGPUs = func() ([]device.Info, error) { return nil, errors.New("none in this test") }
	defer func() { findGPUs = gpus }()
	hostClock = ticking()
	defer func() { hostClock = time.Now }()
	kernels, err := filepath.Abs("../../internal/kernels")
	require.NoError(t, err)
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		dir := t.TempDir()
		expand := strings.NewReplacer("$DIR", dir, "$KERNELS", kernels)
		shrink := strings.NewReplacer(dir, "$DIR", kernels, "$KERNELS")
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			switch d.Cmd {
			case "file":
				name := filepath.Join(dir, d.CmdArgs[0].Key)
				require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o755))
				require.NoError(t, os.WriteFile(name, []byte(d.Input+"\n"), 0o644))
				return ""
			case "run":
				var b strings.Builder
				var stdin []byte
				if len(d.CmdArgs) > 0 {
					stdin, err = os.ReadFile(filepath.Join(dir, d.CmdArgs[0].Key))
					require.NoError(t, err)
				}
				for line := range strings.Lines(d.Input) {
					writeRun(&b, string(stdin), strings.Fields(expand.Replace(line)))
				}
				return positions.ReplaceAllString(shrink.Replace(b.String()), "$1:NN")
			}
			t.Fatalf("unknown command %s", d.Cmd)
			return ""
		})
	})
}

func writeRun(b *strings.Builder, stdin string, args []string) {
	stdout, stderr, status := piped(stdin, args...)
	b.WriteString(stdout)
	for line := range strings.Lines(stderr) {
		b.WriteString("! " + line)
	}
	if status != 0 {
		fmt.Fprintf(b, "exit %d\n", status)
	}
}

func TestBenchWritesRecords(t *testing.T) {
	path := filepath.Join(t.TempDir(), "bench.json")
	stdout, stderr, status := reprise("bench", "vec", "--size", "1024,4096", "--iterations", "4", "--json", path)
	require.Zero(t, status, stderr)
	assert.Equal(t, 11, strings.Count(stdout, "\n"), "a heading, eight rows, and the uncertainty of each size")
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	var records []bench.Record
	require.NoError(t, json.Unmarshal(data, &records))
	require.Len(t, records, 8)
	for _, r := range records {
		assert.True(t, r.OK)
		assert.True(t, r.Simulated)
		assert.Positive(t, r.Uncertainty)
		assert.Positive(t, r.ReplayUS)
		assert.Equal(t, 4, r.Iterations)
		assert.NotEmpty(t, r.Commit)
	}

	toStdout, _, status := reprise("bench", "vec", "--size", "1024,4096", "--iterations", "4", "--json", "-")
	require.Zero(t, status)
	assert.Equal(t, string(data), toStdout, "two runs, one result")
}

func TestBenchLooksForRaces(t *testing.T) {
	_, stderr, status := reprise("bench", "--size", "64", "--iterations", "2", "--race")
	require.Zero(t, status, stderr)
}

func TestAnInterruptedBenchKeepsWhatItMeasured(t *testing.T) {
	path := filepath.Join(t.TempDir(), "bench.json")
	require.NoError(t, os.WriteFile(path, []byte("a whole run"), 0o600))
	f := benchFlags{device: defaultDevice, strategies: []string{"serial", "nimble"}, backends: []string{"all"}, sizes: []string{"1024"}, data: dataFlags{memory: "pinned"}, iterations: 4, json: path}
	config, err := f.config(nil, []string{"vec"})
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	config.Progress = func(_ string, done, _ int) {
		if done == 6 { // in the second row
			cancel()
		}
	}
	records, err := bench.Run(ctx, config)
	require.ErrorIs(t, err, context.Canceled)
	var out bytes.Buffer
	err = f.report(&out, records, config.Rows(), err)
	assert.EqualError(t, err, "interrupted after 1 of 4 rows; the results so far were written to "+path+".partial")
	assert.Contains(t, out.String(), "serial")
	whole, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, "a whole run", string(whole))
	partial, err := os.ReadFile(path + ".partial")
	require.NoError(t, err)
	var got []bench.Record
	require.NoError(t, json.Unmarshal(partial, &got))
	assert.Equal(t, records, got)
}

func TestTraceThenOptPrintsThePlan(t *testing.T) {
	path := filepath.Join(t.TempDir(), "img.rir")
	_, stderr, status := reprise("trace", "img", "-o", path, "--size", "64")
	require.Zero(t, status, stderr)
	stdout, stderr, status := reprise("opt", path, "--strategy", "nimble", "--json")
	require.Zero(t, status, stderr)
	var got summary
	require.NoError(t, json.Unmarshal([]byte(stdout), &got))
	assert.Equal(t, 1+11+1, got.Ops)
	assert.Equal(t, 17, got.Edges)
	assert.Equal(t, 4, got.Lanes)
	assert.Equal(t, 14-9, got.Syncs, "|E'| - |M|")
	var edges []string
	for _, e := range got.Reduced {
		edges = append(edges, fmt.Sprintf("%d-%d", e[0]+1, e[1]+1))
	}
	assert.ElementsMatch(t, strings.Fields("2-5 5-12 3-6 6-7 6-8 1-7 1-8 7-9 8-9 9-11 11-12 4-10 10-11 12-13"), edges)

	stdout, stderr, status = reprise("opt", path, "--backend", "streams", "--json")
	require.Zero(t, status, stderr)
	var streams summary
	require.NoError(t, json.Unmarshal([]byte(stdout), &streams))
	p := profiles.All()[0]
	calls := float64(12*min(p.Host.Launch, p.Host.Memset)+p.Host.Memcpy) / float64(model.Microsecond)
	assert.Greater(t, streams.PredictedUS, calls, "the host makes a call for each operation")
	assert.Less(t, got.PredictedUS, calls)
}
