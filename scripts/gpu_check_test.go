package scripts

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// bundle is a folder like that of make gpu-bundle, in which all programs are shell scripts.
type bundle struct {
	t    *testing.T
	dir  string
	path string // the only folder of PATH
}

// tools lists the programs that gpu-check.sh may require.
var tools = strings.Fields("bash cat cut date dirname env getconf grep head ls mkdir mktemp mv rm sed setsid sleep sort tail tee tr uname wc")

func newBundle(t *testing.T) *bundle {
	b := &bundle{t: t, dir: t.TempDir(), path: t.TempDir()}
	for _, tool := range tools {
		at, err := exec.LookPath(tool)
		if err != nil {
			t.Skipf("needs %s, as on any Linux", tool)
		}
		require.NoError(t, os.Symlink(at, filepath.Join(b.path, tool)))
	}
	script, err := os.ReadFile("gpu-check.sh")
	require.NoError(t, err)
	b.file("gpu-check.sh", string(script))
	b.file("bundle.env", "commit=0123456789ab-dirty\nbuilt=2001-02-03T04:05:06Z\nglibc=2.2\n")
	b.program("bin/reprise", `case $1 in
devices) echo "DEVICE NAME"; echo "gpu0 a GPU" ;;
calibrate) echo '{}' >"${@: -1}" ;;
bench) echo '[]' >"${@: -1}" ;;
compare) echo "$@" >"${@: -1}" ;;
esac`)
	b.program("tests/cuda.test", `echo "--- PASS: TestConformance"`)
	b.program("tests/cuda-include.test", `echo "--- PASS: TestToolkit"`)
	b.file("src/cuda/cuda.go", "")
	b.file("src/cuda/include/cuda.h", "")
	b.file("src/cuda/libcudasim/testdata/works.c", "// Works.\n")
	b.file("src/cuda/libcudasim/testdata/simulated.c", "// Works.\n// env: REPRISE_SIM=a100\n")
	b.file("src/internal/kernels/k.cu", "")
	b.file("src/internal/kernels/k.ptx", "")
	b.tool("nvidia-smi", `case $1 in *name*) echo 'NVIDIA "H200" \ 141GB' ;; *) echo 570.1 ;; esac`)
	b.tool("nvcc", `echo "Cuda compilation tools, release 12.4, V12.4.131"`)
	b.tool("ptxas", "exit 0")
	b.tool("g++", "exit 0")
	b.tool("gcc", compilerStub)
	b.tool("compute-sanitizer", `shift 4; exec "$@"`)
	return b
}

// compilerStub is a compiler that writes an empty program to the file of its flag -o.
const compilerStub = `while [ "$1" != -o ]; do shift; done; printf '#!/bin/sh\n' >"$2"; /bin/chmod +x "$2"`

func (b *bundle) file(name, text string) {
	at := filepath.Join(b.dir, name)
	require.NoError(b.t, os.MkdirAll(filepath.Dir(at), 0o755))
	require.NoError(b.t, os.WriteFile(at, []byte(text), 0o755))
}

func (b *bundle) program(name, body string) { b.file(name, "#!/usr/bin/env bash\n"+body+"\n") }

// tool adds a program to PATH, or removes it if the body is empty.
func (b *bundle) tool(name, body string) {
	at := filepath.Join(b.path, name)
	if body == "" {
		require.NoError(b.t, os.Remove(at))
		return
	}
	require.NoError(b.t, os.WriteFile(at, []byte("#!/usr/bin/env bash\n"+body+"\n"), 0o755))
}

func (b *bundle) command(args ...string) *exec.Cmd {
	c := exec.Command(filepath.Join(b.dir, "gpu-check.sh"), append([]string{"-o", filepath.Join(b.dir, "results")}, args...)...)
	c.Dir = b.t.TempDir()
	c.Env = []string{"PATH=" + b.path, "TMPDIR=" + b.t.TempDir()}
	return c
}

// outcome is the content of check.json.
type outcome struct {
	Format  string
	Version int
	Status  string
	Device, Name, Driver, Toolkit,
	Commit, Built, Date string
	Steps []struct {
		Step, Status, Reason, Log string
		Seconds                   int
	}
}

func (o outcome) statuses() map[string]string {
	m := map[string]string{}
	for _, s := range o.Steps {
		m[s.Step] = s.Status
		if s.Reason != "" {
			m[s.Step] += ": " + s.Reason
		}
	}
	return m
}

func (b *bundle) outcome() (o outcome) {
	text, err := os.ReadFile(filepath.Join(b.dir, "results", "check.json"))
	require.NoError(b.t, err)
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	var all map[string]any
	require.NoError(b.t, json.Unmarshal(text, &all), "%s", text)
	delete(all, "glibc") // of this machine
	rest, err := json.Marshal(all)
	require.NoError(b.t, err)
	d = json.NewDecoder(bytes.NewReader(rest))
	d.DisallowUnknownFields()
	require.NoError(b.t, d.Decode(&o))
	return o
}

// check runs the script and requires an exit status.
func (b *bundle) check(want int, args ...string) (outcome, string) {
	b.t.Helper()
	out, err := b.command(args...).CombinedOutput()
	status := 0
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		status = exit.ExitCode()
	} else {
		require.NoError(b.t, err)
	}
	require.Equal(b.t, want, status, "%s", out)
	if want == 2 {
		return outcome{}, string(out)
	}
	return b.outcome(), string(out)
}

func TestEveryStepIsReported(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	o, _ := b.check(0)
	assert.Equal(t, map[string]string{
		"machine": "ok", "conformance": "ok", "tests": "ok", "programs": "ok", "header": "ok", "ptx": "ok",
		"calibrate": "ok", "bench": "ok", "validate": "ok", "compare": "ok", "sanitizer": "ok",
	}, o.statuses())
	o.Steps = nil
	_, err := time.Parse(time.RFC3339, o.Date)
	assert.NoError(t, err)
	o.Date = ""
	assert.Equal(t, outcome{
		Format: "reprise-gpu-check", Version: 1, Status: "ok", Device: "gpu0", Name: `NVIDIA "H200" \ 141GB`, Driver: "570.1",
		Toolkit: "12.4", Commit: "0123456789ab-dirty", Built: "2001-02-03T04:05:06Z",
	}, o)
	assert.FileExists(t, filepath.Join(b.dir, "results", "profile.json"))
	assert.FileExists(t, filepath.Join(b.dir, "results", "bench.json"))
	log, err := os.ReadFile(filepath.Join(b.dir, "results", "programs.log"))
	require.NoError(t, err)
	assert.Equal(t, "simulated: left out, it requires simulated GPUs\nworks: ok\n", string(log))
}

func TestAFailingStepDoesNotStopTheOthers(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	b.program("tests/cuda.test", `echo "--- FAIL: TestConformance"; exit 1`)
	b.tool("gcc", `echo "works.c:1: what is this"; exit 1`)
	o, _ := b.check(1)
	assert.Equal(t, "failed", o.Status)
	assert.Equal(t, map[string]string{
		"machine": "ok", "conformance": "failed: --- FAIL: TestConformance", "tests": "failed: --- FAIL: TestConformance",
		"programs": "failed: works: FAILED", "header": "ok", "ptx": "ok", "calibrate": "ok", "bench": "ok", "validate": "ok", "compare": "ok",
		"sanitizer": "failed: --- FAIL: TestConformance",
	}, o.statuses())
}

func TestMissingToolsAreSkippedAndNamed(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	for _, tool := range []string{"nvcc", "compute-sanitizer", "nvidia-smi", "g++", "gcc"} {
		b.tool(tool, "")
	}
	o, _ := b.check(0)
	got := o.statuses()
	assert.Equal(t, "skipped: nvcc is not here: install the CUDA toolkit, or set PATH", got["ptx"])
	assert.Equal(t, "skipped: compute-sanitizer is not here: it comes with the CUDA toolkit", got["sanitizer"])
	assert.Equal(t, "skipped: g++ is not here: install a C++ compiler", got["header"])
	assert.Equal(t, "skipped: gcc is not here: install a C compiler", got["programs"])
	assert.Equal(t, "ok", got["machine"])
	assert.Empty(t, o.Driver)
}

func TestASkippedHeaderComparisonIsNoSuccess(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	b.program("tests/cuda-include.test", `echo "    abi_test.go:93: no CUDA toolkit here: set CUDA_HOME if there is one"; echo "--- SKIP: TestToolkit (0.00s)"`)
	o, _ := b.check(0, "header")
	assert.Equal(t, map[string]string{"header": "skipped: no CUDA toolkit here: set CUDA_HOME if there is one"}, o.statuses())
}

// TestWhatIsCompared expects all memory modes unless COMPARE_FLAGS is set, and the simulated driver only if LIBCUDA is
// set.
func TestWhatIsCompared(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	c := b.command("-d", "gpu1", "compare")
	c.Env = append(c.Env, "COMPARE_FLAGS=img --rounds 5")
	require.NoError(t, c.Run())
	compared := filepath.Join(b.dir, "results", "compare.json")
	text, err := os.ReadFile(compared)
	require.NoError(t, err)
	assert.Equal(t, "compare --device gpu1 img --rounds 5 --json "+compared+"\n", string(text))

	c = b.command("compare")
	c.Env = append(c.Env, "LIBCUDA=/lib/simulated.so")
	require.NoError(t, c.Run())
	text, err = os.ReadFile(compared)
	require.NoError(t, err)
	assert.Equal(t, "compare --device gpu0 --libcudasim /lib/simulated.so --memory all --json "+compared+"\n", string(text))
}

func TestATestThatIsNotThereIsAFailure(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	b.program("tests/cuda.test", `echo "testing: warning: no tests to run"; echo PASS`)
	o, _ := b.check(1, "conformance")
	assert.Equal(t, "failed: no test has that name: -test.run Conformance|Faults", o.statuses()["conformance"])
}

func TestADeviceThatIsNotThereIsAFailure(t *testing.T) {
	t.Parallel()
	o, _ := newBundle(t).check(1, "-d", "gpu1", "machine", "bench")
	assert.Equal(t, map[string]string{"machine": "failed: there is no device gpu1: see reprise doctor", "bench": "ok"}, o.statuses())
}

func TestAStepThatHangsIsEnded(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	b.program("tests/cuda.test", "sleep 100 & wait")
	c := b.command("conformance", "machine")
	c.Env = append(c.Env, "STEP_SECONDS=1")
	began := time.Now()
	require.Error(t, c.Run())
	assert.Less(t, time.Since(began), 30*time.Second)
	assert.Equal(t, map[string]string{"conformance": "failed: took more than 1 s", "machine": "ok"}, b.outcome().statuses())
}

func TestAnInterruptKeepsWhatThereIs(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	running := filepath.Join(b.dir, "running")
	b.program("tests/cuda.test", `echo $$ >`+running+`; sleep 100`)
	c := b.command("machine", "conformance", "bench")
	require.NoError(t, c.Start())
	require.Eventually(t, func() bool { text, _ := os.ReadFile(running); return len(text) > 0 }, 20*time.Second, 20*time.Millisecond)
	require.NoError(t, c.Process.Signal(syscall.SIGINT))
	_ = c.Wait()
	assert.Equal(t, 130, c.ProcessState.ExitCode())
	o := b.outcome()
	assert.Equal(t, "interrupted", o.Status)
	assert.Equal(t, map[string]string{"machine": "ok", "conformance": "interrupted"}, o.statuses())
	text, err := os.ReadFile(running)
	require.NoError(t, err)
	stat, err := os.ReadFile("/proc/" + strings.TrimSpace(string(text)) + "/stat")
	assert.True(t, err != nil || strings.Contains(string(stat), ") Z "), "what it ran has ended, too: %s", stat)
}

func TestMistakesOnTheCommandLine(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	_, out := b.check(2, "conformence")
	assert.Contains(t, out, "there is no step conformence; the steps are machine conformance tests")
	_, out = b.check(2, "-x")
	assert.Contains(t, out, "./gpu-check.sh [-d DEVICE] [-o FOLDER] [STEP...]")
	b.file("bundle.env", "commit=x\nbuilt=y\nglibc=99.1\n")
	_, out = b.check(2)
	assert.Contains(t, out, "and the bundle needs 99.1: make it on a system as old as this one")
}
