package main

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	api "github.com/reprise-gpu/reprise"
	"github.com/reprise-gpu/reprise/internal/bench"
	"github.com/reprise-gpu/reprise/internal/vcycle"
)

// usage is a command line with the saved V-cycle, $F, or with other files in $DIR.
type usage struct {
	args string
	want []string // parts of what the command prints, and of the files that it writes to $DIR/out.*
}

// taking has the command lines of the commands that take a program.
var taking = map[string][]usage{
	"advise":  {{"advise $F --quick --copies 2", []string{"mg.rir on sim:h200: 39 operations", "graph of 2, renamed", "choose "}}},
	"bench":   {{"bench $F --iterations 2", []string{"mg.rir     -  as saved    nimble   streams   39"}}},
	"bisect":  {{"bisect $F", []string{"mg.rir nimble/graph: the results of all 39 operations equal those of serial execution"}}},
	"check":   {{"check $F --strategy nimble --mutate", []string{"vcycle: 39 operations, 158 conflicts", "nimble/streams", "ordered"}}},
	"compare": {{"compare $F", []string{"mg.rir on sim:h200 (simulated: virtual time): a saved program, of which there is no version in C++", "nimble/graph"}}},
	"diff": {{"diff $F $DIR/changed.rir", []string{"changed.rir", "- %14 restrict:0", "~ param $omega", "value f32=0.2 -> f32=0.25"}},
		{"diff $F $F", []string{"predicted replay with nimble"}}},
	"draw": {{"draw $F -o $DIR/out.dot", []string{"digraph", "smooth:0:before:1", "@r0"}},
		{"draw $F -o $DIR/out.svg", []string{"<svg", "prolong:2"}}},
	"explain":        {{"explain $F --strategy nimble", []string{"mg.rir, nimble/graph on sim:h200", "restrict:1 at vcycle/vcycle.go:"}}},
	"kernel profile": {{"kernel profile $F", vcycle.Kernels}},
	"measure":        {{"measure $F --replays 2 -o $DIR/out.json", []string{"vcycle on sim:h200", "smooth:3:after:2    mg_smooth     1 ", "mg_prolong"}}},
	"opt":            {{"opt $F", []string{"graph vcycle", "launch mg.mg_restrict", "schedule nimble", `label("prolong:0")`}}},
	"report":         {{"report $F --strategy serial,nimble -o $DIR/out.html", []string{"<title>vcycle ", "residual:end", "mg_norm"}}},
	"run": {{"run $F --replays 3 --set omega=0.2", []string{"mg.rir on sim:h200: 3 replays with nimble/graph", "@u0", "@norm"}},
		{"run $F --replays 3 --machine 2x2", []string{"mg.rir      2x2      2        4        3"}}},
	"share":      {{"share --high $F --low $F --policy fill --requests 3", []string{"mg.rir    fill ", "ok"}}},
	"strategies": {{"strategies $F --strategy serial,nimble", []string{"vcycle: 39 operations", "nimble"}}},
	"tenants":    {{"tenants --program $F --tenants 2 --rounds 2 --sample 1 --mode branches,spacetime --json -", []string{`"program": "$F"`, `"branches"`, `"spacetime"`}}},
	"timeline":   {{"timeline $F -o $DIR/out.json", []string{"39 operations on 3 lanes", "restrict:0", "vcycle.go"}}},
	"trace":      {{"trace $F -o $DIR/out.rir", []string{"39 operations on 17 buffers", "buffer @u3 f32[25]"}}},
	"why": {{"why $F --op norm", []string{"vcycle with nimble/graph on h200", "launch of mg_norm, grid (4,4,1), block (8,8,1)", "residual:end"}},
		{"why $F --edge residual:0,restrict:0", []string{"conflict    raw @r0[136:4220]", "what if"}},
		{"why $F --lane 1", []string{"lane 1:", "smooth:1:before:1"}}},
}

// refusing has those that take no program. want is the remedy that they print, if one uses them in its place.
var refusing = map[string]usage{
	"import":         {"import $F -o $DIR/out.rir", []string{"mg.rir is a saved program already: pass it to the other commands as it is"}},
	"kernel inspect": {"kernel inspect $F", []string{"reprise kernel profile $F prints the kernels of the program"}},
	"kernel run":     {"kernel run $F --block 32", []string{"reprise kernel profile $F prints the kernels of the program"}},
	"profile":        {"profile $F", []string{"no device profile is called"}},
	"scale":          {"scale $F --machine 1x2", []string{"reprise run $F --machine 1x2 runs it on several devices"}},
	"solve":          {"solve --matrix $F", []string{"a Matrix Market file begins with"}},
	"validate":       {"validate $F", []string{"mg.rir:1: not CSV"}},
}

// without has the commands that take neither a program nor a file, or need what a test has not.
var without = "calibrate cgo-env compare-solver completion devices doctor help kernel man serve share-ping share-serve version"

// TestOwnProgramGoesThroughEveryCommand records a program that is none of the workloads, saves it, and runs every command on it. What
// the commands print is about this program: it has the names of its operations, buffers and kernels, and none of a workload.
func TestOwnProgramGoesThroughEveryCommand(t *testing.T) {
	dir := t.TempDir()
	file := saveVCycle(t, dir)
	for _, path := range commandPaths(newRoot()) {
		name := strings.ReplaceAll(path, " ", "-")
		lines, takes := taking[path]
		refused, refuses := refusing[path]
		known := takes || refuses || strings.Contains(" "+without+" ", " "+name+" ")
		assert.True(t, known, "%s is a new command: add it to the lists of this test", path)
		expand := strings.NewReplacer("$F", file, "$DIR", dir)
		for _, u := range lines {
			t.Run(u.args, func(t *testing.T) {
				text, status := outcome(t, dir, expand.Replace(u.args))
				if path != "diff" {
					require.Zero(t, status, text)
				}
				for _, part := range u.want {
					assert.Contains(t, text, expand.Replace(part))
				}
				assert.Empty(t, ofOthers(text, dir))
			})
		}
		if refuses {
			t.Run(refused.args, func(t *testing.T) {
				text, status := outcome(t, dir, expand.Replace(refused.args))
				assert.NotZero(t, status)
				assert.Equal(t, 1, strings.Count(text, "\n"), "one sentence: %s", text)
				assert.Contains(t, text, expand.Replace(refused.want[0]))
			})
		}
	}
}

// TestOwnProgramIsServed makes the page of serve for the program.
func TestOwnProgramIsServed(t *testing.T) {
	text, err := os.ReadFile(saveVCycle(t, t.TempDir()))
	require.NoError(t, err)
	page, err := served(t).File(t.Context(), "mg.rir", string(text))
	require.NoError(t, err)
	assert.Contains(t, string(page), "<title>vcycle ")
	assert.Contains(t, string(page), "smooth:0:before:1")
}

// saveVCycle saves the program as mg.rir, and as changed.rir with another parameter and another label.
func saveVCycle(t *testing.T, dir string) (file string) {
	dev, err := api.Open("sim")
	require.NoError(t, err)
	defer dev.Close()
	trace, _, err := vcycle.Record(dev)
	require.NoError(t, err)
	defer trace.Close()
	file = filepath.Join(dir, "mg.rir")
	require.NoError(t, trace.Save(file, api.SaveOptions{Seed: 1}))
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	changed := strings.NewReplacer("$omega f32 = 0.2", "$omega f32 = 0.25", `label("restrict:0")`, `label("project:0")`).Replace(string(text))
	require.NotEqual(t, string(text), changed)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "changed.rir"), []byte(changed), 0o600))
	return file
}

// commandPaths returns the paths of all commands, without the name of the program.
func commandPaths(c *cobra.Command) (paths []string) {
	for _, sub := range c.Commands() {
		_, path, _ := strings.Cut(sub.CommandPath(), " ")
		paths = append(append(paths, path), commandPaths(sub)...)
	}
	return paths
}

// outcome runs a command line, and returns what it printed and wrote to out.* in dir, and its exit status.
func outcome(t *testing.T, dir, line string) (text string, status int) {
	old, err := filepath.Glob(filepath.Join(dir, "out.*"))
	require.NoError(t, err)
	for _, file := range old {
		require.NoError(t, os.Remove(file))
	}
	stdout, stderr, status := reprise(strings.Fields(line)...)
	text = stdout + stderr
	written, err := filepath.Glob(filepath.Join(dir, "out.*"))
	require.NoError(t, err)
	for _, file := range written {
		content, err := os.ReadFile(file)
		require.NoError(t, err)
		text += string(content)
	}
	return text, status
}

// scripts matches the parts of a page that are the same for all programs.
var scripts = regexp.MustCompile(`(?s)<style.*?</style>|<script>.*?</script>`)

// ofOthers returns the names of workloads and of their source files in a text.
func ofOthers(text, dir string) (names []string) {
	text = scripts.ReplaceAllString(strings.NewReplacer(dir, "", `role="img"`, "").Replace(text), "")
	for _, w := range append(bench.Workloads(), bench.ServedWorkloads()...) {
		if regexp.MustCompile(`(^|[\s"/:])` + w.Name + `([\s",.:]|$)`).MatchString(text) {
			names = append(names, w.Name)
		}
	}
	return names
}

// TestOwnProgramComputes runs three V-cycles at the command line, with contents from files, and compares the result with that of the
// host: on one device, and on four devices of two ranks.
func TestOwnProgramComputes(t *testing.T) {
	dir := t.TempDir()
	file := saveVCycle(t, dir)
	row := vcycle.N + 2
	f, u := make([]float64, row*row), make([]float64, row*row)
	for y := 1; y <= vcycle.N; y++ {
		for x := 1; x <= vcycle.N; x++ {
			f[y*row+x] = math.Cos(float64(3*x + y*y))
		}
	}
	in, zero := filepath.Join(dir, "f.txt"), filepath.Join(dir, "u.txt")
	writeNumbers(t, in, f)
	writeNumbers(t, zero, u)
	var norm float64
	for range 3 {
		norm = vcycle.Cycle(u, f)
	}
	for _, machine := range []string{"", "--machine 2x2"} {
		solution, rest := filepath.Join(dir, "solution.txt"), filepath.Join(dir, "norm.txt")
		_, stderr, status := reprise(strings.Fields(fmt.Sprintf("run %s --replays 3 --in f0=%s --in u0=%s --out u0=%s --out norm=%s %s", file, in, zero, solution, rest, machine))...)
		require.Zero(t, status, stderr)
		for i, x := range readNumbers(t, solution) {
			require.InDelta(t, u[i], x, 1e-5, "element %d", i)
		}
		assert.InDelta(t, norm, readNumbers(t, rest)[0], 1e-3*norm)
	}
}

func writeNumbers(t *testing.T, path string, numbers []float64) {
	var b bytes.Buffer
	for _, x := range numbers {
		fmt.Fprintln(&b, float32(x))
	}
	require.NoError(t, os.WriteFile(path, b.Bytes(), 0o600))
}

func readNumbers(t *testing.T, path string) (numbers []float64) {
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	for _, word := range strings.Fields(string(text)) {
		x, err := strconv.ParseFloat(word, 64)
		require.NoError(t, err)
		numbers = append(numbers, x)
	}
	return numbers
}
