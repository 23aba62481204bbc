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

// The releases whose facts are in testdata, as programs compiled against NVIDIA's headers
// printed them (-record). The first is the one that cuda.h declares; of the others there is what
// differs from it.
var recorded = []int{12040, 11080}

func tablePath(version int) string {
	return fmt.Sprintf("testdata/cuda-%d.%d.txt", version/1000, version%1000/10)
}

func TestMain(m *testing.M) {
	flag.Parse()
	os.Exit(m.Run())
}

// TestRecorded compares all of cuda.h with the recorded facts, for the release it is
// of and as CUDA 11 sources ask for it.
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

// TestToolkit compares with the header of this machine's toolkit, for all that both declare.
func TestToolkit(t *testing.T) {
	needCompiler(t)
	dir, version := toolkit(t)
	theirs := probe(t, dir)
	require.Equal(t, fmt.Sprint(version), theirs["constant CUDA_VERSION"], "the wrong header was read")
	require.Greater(t, len(theirs), 1500, "few facts found in %s", dir)
	compare(t, version, theirs, ours(t, version))
}

// TestRecord is no test: it writes the tables.
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

// added is what cuda.h has of later releases, and versioned names for which NVIDIA's header
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

// evolved are facts that changed between releases without a new name, where ours are the
// newest: enumerators that count the others, a mask of all flags, and bytes that were reserved.
var evolved = regexp.MustCompile(`^constant CU_(\w+_MAX|JIT_NUM_OPTIONS|JIT_NUM_INPUT_TYPES|CTX_FLAGS_MASK)$|` +
	`^field CUmemPoolProps(_v1)?\.reserved$`)

// Structures that got another tag in 12.0, as C++ writes them. Both are layouts of one size.
var newTags = strings.NewReplacer(
	"32CUDA_BATCH_MEM_OP_NODE_PARAMS_st", "35CUDA_BATCH_MEM_OP_NODE_PARAMS_v1_st",
	"29CUDA_MEM_ALLOC_NODE_PARAMS_st", "32CUDA_MEM_ALLOC_NODE_PARAMS_v1_st")

// compare wants each of theirs among ours.
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

// ours are the facts of cuda.h as a program for that release sees them.
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
