// Package include_test compares cuda.h with the headers of CUDA toolkits.
package include_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var record = flag.String("record", "", "write testdata/cuda-RELEASE.txt from the cuda.h in this folder, which must be NVIDIA's of a recorded release")

// recorded lists the releases whose facts are in testdata. Programs compiled with NVIDIA's headers
// printed these facts (-record). The first release is the one that cuda.h declares. The files of the others contain
// only the differences from the first.
var recorded = []int{12040, 11080}

func tablePath(version int) string {
	return fmt.Sprintf("testdata/cuda-%d.%d.txt", version/1000, version%1000/10)
}

func TestMain(m *testing.M) {
	flag.Parse()
	os.Exit(m.Run())
}

// TestRecorded compares all of cuda.h with the recorded facts: for its own release, and for the older one that
// sources select with CUDA_VERSION.
func TestRecorded(t *testing.T) {
	needCompiler(t)
	newest := readFacts(t, tablePath(recorded[0]))
	for _, version := range recorded {
		t.Run(fmt.Sprint(version), func(t *testing.T) {
			theirs := newest
			if version != recorded[0] {
				theirs = newest.changedBy(readFacts(t, tablePath(version)))
			}
			ours := ours(t, version)
			compare(t, version, theirs, ours)
			if version == recorded[0] {
				require.Equal(t, added, slices.DeleteFunc(ours.keys(), func(key string) bool { return theirs[key] != "" }),
					"what cuda.h has and NVIDIA's header has not")
			}
		})
	}
}

// TestToolkit compares cuda.h with the header of this machine's toolkit, for all names that both declare.
func TestToolkit(t *testing.T) {
	needCompiler(t)
	dir, version := toolkit(t)
	theirs := probe(t, dir)
	require.Equal(t, fmt.Sprint(version), theirs["constant CUDA_VERSION"], "the wrong header was read")
	require.Greater(t, len(theirs), 1500, "few facts found in %s", dir)
	compare(t, version, theirs, ours(t, version))
}

// TestRecord writes the tables in testdata. It runs only with -record.
func TestRecord(t *testing.T) {
	if *record == "" {
		t.Skip("writes testdata, when -record names a folder")
	}
	needCompiler(t)
	version := versionOf(t, *record)
	facts := probe(t, *record)
	if version != recorded[0] {
		facts = facts.differenceFrom(readFacts(t, tablePath(recorded[0])))
	}
	require.NoError(t, os.MkdirAll("testdata", 0o755))
	require.NoError(t, os.WriteFile(tablePath(version), []byte(facts.String()), 0o644))
}

// added lists names in cuda.h from later releases, and versioned names for which NVIDIA's header
// has no macro.
var added = []string{
	"constant CUDA_GRAPH_INSTANTIATE_CONDITIONAL_HANDLE_UNUSED",
	"constant CU_GRAPH_COND_TYPE_SWITCH",
	"per-thread cuStreamBatchMemOp_v2",
	"per-thread cuStreamWaitValue32_v2",
	"per-thread cuStreamWaitValue64_v2",
	"per-thread cuStreamWriteValue32_v2",
	"per-thread cuStreamWriteValue64_v2",
}

// evolved matches facts that changed between releases without a new name: enumerators that count the others, a mask of
// all flags, and bytes that were reserved. cuda.h has their newest values.
var evolved = regexp.MustCompile(`^constant CU_(\w+_MAX|JIT_NUM_OPTIONS|JIT_NUM_INPUT_TYPES|CTX_FLAGS_MASK)$|` +
	`^field CUmemPoolProps(_v1)?\.reserved$`)

// newTags maps the mangled names of structures whose tags changed in 12.0. Their sizes did not change.
var newTags = strings.NewReplacer(
	"32CUDA_BATCH_MEM_OP_NODE_PARAMS_st", "35CUDA_BATCH_MEM_OP_NODE_PARAMS_v1_st",
	"29CUDA_MEM_ALLOC_NODE_PARAMS_st", "32CUDA_MEM_ALLOC_NODE_PARAMS_v1_st")

// compare requires that cuda.h has each of NVIDIA's facts.
func compare(t *testing.T, version int, theirs, ours facts) {
	t.Helper()
	for _, key := range theirs.keys() {
		if version != recorded[0] && evolved.MatchString(key) {
			continue
		}
		if ours[key] != newTags.Replace(theirs[key]) {
			t.Errorf("%s: NVIDIA has %q, cuda.h %q", key, theirs[key], ours[key])
		}
	}
}

// ours returns the facts of cuda.h that a program sees if it selects a release.
func ours(t *testing.T, version int) facts {
	t.Helper()
	return probe(t, ".", fmt.Sprintf("-DCUDA_VERSION=%d", version))
}

// toolkit finds the folder of NVIDIA's cuda.h.
func toolkit(t *testing.T) (dir string, version int) {
	t.Helper()
	candidates := []string{os.Getenv("CUDA_HOME") + "/include", os.Getenv("CUDA_PATH") + "/include", "/usr/local/cuda/include", "/usr/include"}
	for _, dir := range candidates {
		if _, err := os.Stat(filepath.Join(dir, "cuda.h")); err != nil {
			continue
		}
		version := versionOf(t, dir)
		if version < 11080 || version >= 13000 {
			t.Skipf("%s/cuda.h is of CUDA_VERSION %d, and only 11.8 to 12.x can be compared", dir, version)
		}
		return dir, version
	}
	t.Skip("no CUDA toolkit here: set CUDA_HOME if there is one")
	return "", 0
}
