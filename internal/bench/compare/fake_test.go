package compare

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/bench"
	"github.com/reprise-gpu/reprise/internal/sim"
)

// behaviour is the environment variable that turns this test binary into a fake C++ program. Its value selects the
// behaviour.
const behaviour = "REPRISE_TEST_BASELINE"

func TestMain(m *testing.M) {
	switch how := os.Getenv(behaviour); {
	case how != "" && filepath.Base(os.Args[0]) == filepath.Base(solverProgram):
		os.Exit(fakeSolver(how))
	case how != "":
		os.Exit(fake(how))
	}
	os.Exit(m.Run())
}

// fakes returns a folder of fake programs.
func fakes(t *testing.T, how string) Programs {
	self, err := os.Executable()
	require.NoError(t, err)
	dir := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(dir, filepath.Dir(solverProgram)), 0o700))
	require.NoError(t, os.Symlink(self, filepath.Join(dir, solverProgram)))
	for _, w := range bench.Workloads() {
		require.NoError(t, os.Symlink(self, filepath.Join(dir, w.Name)))
	}
	return Programs{Dir: dir, Env: []string{behaviour + "=" + how}}
}

// fakeTimes holds the times of the versions, in us.
var fakeTimes = []struct {
	version string
	us      float64
}{{"sync", 400}, {"async", 200}, {"graph", 125}, {"capture", 100}, {"graph1", 300}, {copied, 160}}

// versionsFor returns the versions that a comparison requires.
func versionsFor(burst int) string {
	if burst > 0 {
		return "all," + copied
	}
	return "all"
}

// fake prints valid records, except for the mistake in the third version that how selects. It returns the exit
// status.
func fake(how string) (status int) {
	var p bench.Params
	var memory, version, commit string
	var iterations, ordinal, burst int
	var sample int64
	flags := flag.NewFlagSet("fake", flag.ContinueOnError)
	flags.IntVar(&p.Size, "size", 0, "")
	flags.IntVar(&p.Threads, "threads", 0, "")
	flags.Uint64Var(&p.Seed, "seed", 0, "")
	flags.StringVar(&memory, "memory", "", "")
	flags.StringVar(&version, "version", "", "")
	flags.StringVar(&commit, "commit", "", "")
	flags.IntVar(&iterations, "iterations", 0, "")
	flags.IntVar(&burst, "burst", 0, "")
	flags.IntVar(&ordinal, "device", 0, "")
	flags.Int64Var(&sample, "sample", 0, "")
	if flags.Parse(os.Args[1:]) != nil || version != versionsFor(burst) || ordinal != 0 || commit == "" {
		return 2
	}
	p.Sampled = sample > 0
	base, err := described(filepath.Base(os.Args[0]), p)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	base.Memory, base.Iterations, base.Sample, base.Commit = memory, iterations, sample, commit
	out := json.NewEncoder(os.Stdout)
	for i, v := range fakeTimes {
		if v.version == copied && burst == 0 {
			continue
		}
		r := base
		if burst > 0 {
			r.Burst, r.BurstUS = burst, v.us-10
		}
		if v.version == copied {
			r.Copies, r.AddedBytes, r.BurstUS = 4, 3000, v.us/8
		}
		r.Backend, r.ReplayUS, r.MinUS, r.MaxUS, r.EventUS = v.version, v.us, v.us-1, v.us+1, v.us/2
		if i == 2 {
			switch how {
			case "hash":
				r.InputHash = "0000000000000001"
			case "blocks":
				r.Blocks++
			case "stale":
				r.PTXHash = "0000000000000002"
			case "device":
				r.DeviceName = "another"
			case "unchecked":
				r.Checked = false
			case "fewer":
				r.Iterations--
			case "shorter":
				r.Burst--
			case "short":
				return 0
			case "wrong":
				r.OK, r.Error, status = false, "res = 1, want 2", 1
			case "driver":
				fmt.Fprintln(os.Stderr, "some warning\ncuGraphLaunch answers CUDA_ERROR_LAUNCH_FAILED (719)")
				return 1
			case "crash":
				p, _ := os.FindProcess(os.Getpid())
				_ = p.Kill()
				time.Sleep(time.Minute)
			case "hang":
				time.Sleep(time.Minute)
			case "babble":
				fmt.Println("ready")
			case "schema":
				fmt.Println(`{"workload": "vec", "replay_ms": 4}`)
			case "twice":
				r.Backend = "sync"
			}
		}
		if how == "silent" {
			return 0
		}
		if err := out.Encode(r); err != nil {
			return 1
		}
	}
	return status
}

// described returns a record of a workload without measurements.
func described(name string, p bench.Params) (r bench.Record, err error) {
	w, err := bench.LookupWorkload(name)
	if err != nil {
		return r, err
	}
	dev, err := sim.New(sim.Options{})
	if err != nil {
		return r, err
	}
	defer func() { err = device.Join(err, dev.Close()) }()
	in, err := w.New(dev, p)
	if err != nil {
		return r, err
	}
	defer func() { err = device.Join(err, in.Close()) }()
	r = bench.Record{
		Workload: name, Size: p.Size, Threads: in.Params.Threads, Blocks: in.Params.Blocks,
		Device: "sim:h200", DeviceName: dev.Info().Name, Simulated: true, Language: "c++", Strategy: "hand", Ops: in.Trace.Graph.Len(), Lanes: 2, DriverCalls: 2,
		Checked: !p.Sampled, OK: true, PTXHash: fmt.Sprintf("%016x", in.PTXHash()), Compiler: "g++ 0",
	}
	if !p.Sampled {
		r.InputHash = fmt.Sprintf("%016x", in.InputHash())
	}
	return r, nil
}
