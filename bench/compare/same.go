package compare

import (
	"fmt"

	"github.com/reprise-gpu/reprise/bench"
)

// comparable reports why records of the C++ side cannot stand beside one of the Go
// side: they must have done the same work on the same data.
func comparable(ours *bench.Record, theirs []bench.Record) error {
	seen := map[string]bool{}
	for i := range theirs {
		r := &theirs[i]
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
			{"simulated", ours.Simulated, r.Simulated},
			{"ops", ours.Ops, r.Ops},
			{"input_hash", ours.InputHash, r.InputHash},
		} {
			if fact.a != fact.b {
				return fmt.Errorf("not the same work: the C++ version %s has %s %v, where %v is wanted", r.Backend, fact.name, fact.b, fact.a)
			}
		}
		if seen[r.Backend] {
			return fmt.Errorf("the C++ program ran its version %s twice", r.Backend)
		}
		seen[r.Backend] = true
	}
	return nil
}
