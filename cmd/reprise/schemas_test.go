package main

import (
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/internal/bench"
	"github.com/reprise-gpu/reprise/internal/bench/advice"
	"github.com/reprise-gpu/reprise/internal/bench/compare"
	"github.com/reprise-gpu/reprise/internal/bench/scale"
	"github.com/reprise-gpu/reprise/internal/bench/shares"
	"github.com/reprise-gpu/reprise/internal/bench/strategies"
	"github.com/reprise-gpu/reprise/internal/bench/tenants"
	"github.com/reprise-gpu/reprise/internal/bench/validation"
	"github.com/reprise-gpu/reprise/internal/report"
	"github.com/reprise-gpu/reprise/internal/schema"
	"github.com/reprise-gpu/reprise/internal/timeline"
	"github.com/reprise-gpu/reprise/internal/timings"
)

// schemas has the records of commands: the type, and a command line that prints one. Without a command line, the record needs
// what tests do not have, such as a C++ compiler.
var schemas = map[string]struct {
	record reflect.Type
	args   string
}{
	"advise":         {reflect.TypeFor[[]advice.Advice](), "advise vec --size 1024 --quick --copies 2 --measure --json -"},
	"bench":          {reflect.TypeFor[[]bench.Record](), "bench vec --size 1024 --iterations 2 --json -"},
	"bisect":         {reflect.TypeFor[[]bisected](), "bisect vec --size 1024 --json -"},
	"check":          {reflect.TypeFor[[]checked](), "check vec --json -"},
	"compare":        {reflect.TypeFor[comparisons](), ""},
	"compare-solver": {reflect.TypeFor[[]compare.SolverComparison](), ""},
	"devices":        {reflect.TypeFor[[]deviceRecord](), "devices --json -"},
	"diff":           {reflect.TypeFor[programsDiffer](), "diff vec $DIR/vec.rir --json -"},
	"doctor":         {reflect.TypeFor[[]diagnosis](), "doctor --json -"},
	"draw":           {reflect.TypeFor[report.Drawn](), "draw vec --json -"},
	"explain":        {reflect.TypeFor[[]bench.Explanation](), "explain vec --size 1024 --json -"},
	"kernel-inspect": {reflect.TypeFor[[]entryInfo](), "kernel inspect ../../internal/kernels/square.ptx --json"},
	"import":         {reflect.TypeFor[savedRecord](), "import --network nasnet-a-mobile -o $DIR/n.rir --json -"},
	"kernel-profile": {reflect.TypeFor[[]bench.KernelProfile](), "kernel profile vec --size 1024 --json -"},
	"kernel-run":     {reflect.TypeFor[launchRecord](), "kernel run ../../internal/kernels/square.ptx --block 32 --arg buf:f32=1,inf --arg zero:f32*2 --arg i32=2 --json -"},
	"measure":        {reflect.TypeFor[[]timings.Row](), "measure vec --size 1024 --json - -o $DIR/vec.json"},
	"opt":            {reflect.TypeFor[planned](), "opt $DIR/vec.rir --json"},
	"report":         {reflect.TypeFor[report.Data](), "report vec --size 1024 --strategy serial,nimble --json -"},
	"run-device":     {reflect.TypeFor[[]runRecord](), "run vec:1024 --json -"},
	"run":            {reflect.TypeFor[[]clusterRecord](), "run wave:64 --machine 1x2 --replays 2 --json -"},
	"scale":          {reflect.TypeFor[[]scale.Record](), "scale jacobi:64x2 --machine 1x2 --json -"},
	"share":          {reflect.TypeFor[[]shares.Record](), "share --high vec --low vec --policy fill --requests 2 --json -"},
	"share-ping":     {reflect.TypeFor[pingRecord](), ""},
	"solve":          {reflect.TypeFor[[]solveRow](), "solve --matrix poisson2d:8 --method cg --json -"},
	"strategies":     {reflect.TypeFor[[]*strategies.Comparison](), "strategies $DIR/vec.rir --strategy nimble --json -"},
	"tenants":        {reflect.TypeFor[[]tenants.Record](), "tenants --program vec --tenants 2 --rounds 1 --sample 1 --mode branches --json -"},
	"timeline":       {reflect.TypeFor[timeline.Chrome](), "timeline vec --size 1024 -o -"},
	"trace":          {reflect.TypeFor[savedRecord](), "trace vec --size 1024 -o $DIR/v.rir --json -"},
	"validate":       {reflect.TypeFor[validation.Report](), "validate --only micro/a40/l1_sum --json"},
	"why":            {reflect.TypeFor[answer](), "why vec --edge square#1,reduce --json -"},
	"version":        {reflect.TypeFor[versionRecord](), "version --json -"},
}

const schemaFolder = "../../docs/schemas"

// Each record has a schema in docs/schemas, which follows from its type, and what the command prints conforms to it.
func TestSchemas(t *testing.T) {
	dir := t.TempDir()
	_, stderr, status := reprise("trace", "vec", "--size", "1024", "-o", filepath.Join(dir, "vec.rir"))
	require.Zero(t, status, stderr)
	for name, s := range schemas {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(schemaFolder, name+".json")
			text := schema.Of("reprise "+strings.ReplaceAll(name, "-", " "), s.record).Text()
			if rewriting() {
				require.NoError(t, os.WriteFile(file, []byte(text), 0o644))
			}
			stored, err := os.ReadFile(file)
			require.NoError(t, err)
			require.Equal(t, text, string(stored), "the type has changed: run the test with -rewrite")
			if s.args == "" {
				return
			}
			stdout, stderr, _ := reprise(strings.Fields(strings.ReplaceAll(s.args, "$DIR", dir))...)
			parsed, err := schema.Parse(stored)
			require.NoError(t, err)
			assert.NoError(t, parsed.Check([]byte(stdout)), stderr)
		})
	}
	files, err := filepath.Glob(schemaFolder + "/*.json")
	require.NoError(t, err)
	assert.Len(t, files, len(schemas), "one file for each record")
}

// rewriting reports whether expected output is to be written. The flag is that of package datadriven.
func rewriting() bool { return flag.Lookup("rewrite").Value.String() == "true" }

// withoutJSON states why a command has no --json.
var withoutJSON = map[string]string{
	"reprise kernel":      "it has commands only",
	"reprise calibrate":   "-o writes the profile, which is JSON",
	"reprise cgo-env":     "a shell evaluates what it prints",
	"reprise profile":     "it prints JSON",
	"reprise serve":       "the page has the content of a report, which report --json writes",
	"reprise share serve": "it answers programs over a socket until it ends",
	"reprise timeline":    "-o writes the timeline, which is JSON",
}

// Each command that prints results has --json.
func TestCommandsPrintJSON(t *testing.T) {
	var visit func(c *cobra.Command)
	visit = func(c *cobra.Command) {
		if c.Runnable() && c.Name() != "help" && c != c.Root() {
			_, excepted := withoutJSON[c.CommandPath()]
			assert.Equal(t, !excepted, c.Flags().Lookup("json") != nil, c.CommandPath())
		}
		for _, sub := range c.Commands() {
			if sub.IsAvailableCommand() {
				visit(sub)
			}
		}
	}
	visit(newRoot())
}
