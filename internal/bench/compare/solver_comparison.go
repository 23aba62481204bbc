package compare

import (
	"fmt"
	"slices"
	"time"
)

// Solved is what solving came to.
type Solved struct {
	Iterations   int           `json:"iterations"`
	Residual     float64       `json:"residual,omitempty"` // of a sampled device there is none
	TrueResidual float64       `json:"true_residual,omitempty"`
	Time         time.Duration `json:"time_ns"`
}

// SolverRow is one way to solve a system. A ratio of 0 stands for one that cannot be told.
type SolverRow struct {
	Name     string `json:"name"`           // "graph", "c++ while"
	Peer     string `json:"peer,omitempty"` // the C++ version that does the same
	Language string `json:"language"`
	Solved
	OverEager float64 `json:"speedup_over_eager"`
	ToGraph   float64 `json:"ratio_to_graph"` // to the C++ version graph
	ToWhile   float64 `json:"ratio_to_while"` // to the C++ version while
}

// SolverComparison is a system with all ways to solve it.
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

// Row is the row of a name, nil when there is none.
func (s *SolverComparison) Row(name string) *SolverRow {
	if i := slices.IndexFunc(s.Rows, func(r SolverRow) bool { return r.Name == name }); i >= 0 {
		return &s.Rows[i]
	}
	return nil
}

// relate fills in what rows are to each other, and reports what keeps them from being compared: all have to come to
// the same number after as many iterations, bit by bit.
func (s *SolverComparison) relate() error {
	eager, graph, while := s.Row("eager"), s.Row("c++ graph"), s.Row("c++ while")
	if graph == nil || (while == nil) != (s.Row("while") == nil) {
		return fmt.Errorf("the C++ program did not run all of its versions")
	}
	for i := range s.Rows {
		r := &s.Rows[i]
		if r.Iterations != eager.Iterations || r.Residual != eager.Residual {
			return fmt.Errorf("not the same work: %s comes to a residual of %g in %d iterations, and eager to %g in %d", r.Name, r.Residual, r.Iterations, eager.Residual, eager.Iterations)
		}
		r.OverEager, r.ToGraph = ratio(float64(eager.Time), float64(r.Time)), ratio(float64(r.Time), float64(graph.Time))
		if while != nil {
			r.ToWhile = ratio(float64(r.Time), float64(while.Time))
		}
	}
	return nil
}

// Slower is a row that takes more than so many times what another does that it should not be slower than: a replay than
// eager launches, and one with a peer than that. Both are nil when there is none.
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
