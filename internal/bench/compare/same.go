package compare

import (
	"fmt"
	"slices"
	"strings"

	"github.com/reprise-gpu/reprise/internal/bench"
)

// versions lists the versions of each C++ program. Each has as many replays as a row in Go.
var versions = []string{"sync", "async", "graph", "capture", "graph1"}

// copied is the version with memory for several replays at once. A program has none if its replays continue from the
// result of the replay before.
const copied = "graph4"

// comparable returns an error if the records of the C++ side cannot be compared with one of the Go side. Both must
// have done the same work on the same data, equally often, each version once, and with a check of the result.
func comparable(ours *bench.Record, theirs []bench.Record) error {
	seen := map[string]bool{}
	for i := range theirs {
		r := &theirs[i]
		if r.PTXHash != ours.PTXHash {
			return fmt.Errorf("the C++ program contains other kernels than this program: build both from the same files with `make build baseline`")
		}
		for _, fact := range []struct {
			name string
			a, b any
		}{
			{"language", "c++", r.Language},
			{"workload", ours.Workload, r.Workload},
			{"size", ours.Size, r.Size},
			{"memory", ours.Memory, r.Memory},
			{"threads", ours.Threads, r.Threads},
			{"blocks", ours.Blocks, r.Blocks},
			{"sample", ours.Sample, r.Sample},
			{"device_name", ours.DeviceName, r.DeviceName},
			{"simulated", ours.Simulated, r.Simulated},
			{"ops", ours.Ops, r.Ops},
			{"iterations", ours.Iterations, r.Iterations},
			{"burst", ours.Burst, r.Burst},
			{"checked", ours.Checked, r.Checked},
			{"input_hash", ours.InputHash, r.InputHash},
		} {
			if fact.a != fact.b {
				return fmt.Errorf("not the same work: the C++ version %s has %s %v instead of %v", r.Backend, fact.name, fact.b, fact.a)
			}
		}
		if seen[r.Backend] {
			return fmt.Errorf("the C++ program ran its version %s twice", r.Backend)
		}
		seen[r.Backend] = true
	}
	if lacking := slices.DeleteFunc(slices.Clone(versions), func(v string) bool { return seen[v] }); len(lacking) > 0 {
		return fmt.Errorf("the C++ program did not run its version %s", strings.Join(lacking, ", "))
	}
	return nil
}
