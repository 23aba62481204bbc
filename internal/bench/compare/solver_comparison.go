package compare

import (
	"fmt"
	"slices"
	"time"
)

// Solved is the result of a solution.
type Solved struct {
	Iterations   int           `json:"iterations"`
	Residual     float64       `json:"residual,omitempty"` // 0 on a sampled device
	TrueResidual float64       `json:"true_residual,omitempty"`
	Time         time.Duration `json:"time_ns"`
}

// SolverRow is one way to solve a system. A ratio of 0 is unknown.
type SolverRow struct {
	Name     string `json:"name"`           // "graph", "c++ while"
	Peer     string `json:"peer,omitempty"` // the C++ version that does the same
	Language string `json:"language"`
	Solved
	OverEager float64 `json:"speedup_over_eager"`
	ToGraph   float64 `json:"ratio_to_graph"` // to the C++ version graph
	ToWhile   float64 `json:"ratio_to_while"` // to the C++ version while
}

// SolverComparison is a system with all ways of solving it.
type SolverComparison struct {
	Method     string      `json:"method"`
	Side       int         `json:"side"`
	Unknowns   int         `json:"unknowns"`
	CheckEvery int         `json:"check_every"`
	Device     string      `json:"device"`
	Simulated  bool        `json:"simulated"`
	Sample     int64       `json:"sample,omitempty"`
	Rows       []SolverRow `json:"rows"`
}

// Row returns the row with a name, or nil.
func (s *SolverComparison) Row(name string) *SolverRow {
	if i := slices.IndexFunc(s.Rows, func(r SolverRow) bool { return r.Name == name }); i >= 0 {
		return &s.Rows[i]
	}
	return nil
}

// relate computes the ratios between rows. It returns an error if they are not comparable: all must have the same
// residual, bit by bit, after the same number of iterations.
func (s *SolverComparison) relate() error {
	eager, graph, while := s.Row("eager"), s.Row("c++ graph"), s.Row("c++ while")
	if graph == nil || (while == nil) != (s.Row("while") == nil) {
		return fmt.Errorf("the C++ program did not run all of its versions")
	}
	for i := range s.Rows {
		r := &s.Rows[i]
		if r.Iterations != eager.Iterations || r.Residual != eager.Residual {
			return fmt.Errorf("not the same work: %s has residual %g after %d iterations, but eager has %g after %d", r.Name, r.Residual, r.Iterations, eager.Residual, eager.Iterations)
		}
		r.OverEager, r.ToGraph = ratio(float64(eager.Time), float64(r.Time)), ratio(float64(r.Time), float64(graph.Time))
		if while != nil {
			r.ToWhile = ratio(float64(r.Time), float64(while.Time))
		}
	}
	return nil
}

// Slower returns a row that takes more than the given multiple of another row that it should not be slower than:
// eager launches for a replay, and the peer for a row with one. Both are nil if there is none.
func (s *SolverComparison) Slower(times float64) (row, than *SolverRow) {
	for i := range s.Rows {
		r := &s.Rows[i]
		for _, name := range []string{"eager", r.Peer} {
			other := s.Row(name)
			if r.Language == "go" && other != nil && other != r && micros64(r.Time)-times*micros64(other.Time) > tick {
				return r, other
			}
		}
	}
	return nil, nil
}

func micros64(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1000 }
