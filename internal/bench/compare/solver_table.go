package compare

import (
	"fmt"
	"io"
	"text/tabwriter"
)

// WriteSolverTables prints a table for each comparison.
func WriteSolverTables(w io.Writer, all []SolverComparison) error {
	for i := range all {
		if i > 0 {
			fmt.Fprintln(w)
		}
		if err := all[i].write(w); err != nil {
			return err
		}
	}
	return nil
}

func (s *SolverComparison) write(w io.Writer) error {
	fmt.Fprintf(w, "%s on poisson2d:%d, %d unknowns, on %s%s, a check every %d iterations\n",
		s.Method, s.Side, s.Unknowns, s.Device, virtual(s.Simulated, s.Sample), s.CheckEvery)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "\titerations\tus/iteration\ttotal us\tover eager\tto c++ graph\tto c++ while\ttrue residual\t")
	for i := range s.Rows {
		r := &s.Rows[i]
		fmt.Fprintf(t, "%s\t%d\t%s\t%s\t%s\t%s\t%s\t%s\t\n", r.Name, r.Iterations, micros(micros64(r.Time)/float64(max(1, r.Iterations))), micros(micros64(r.Time)),
			times(r.OverEager), times3(r.ToGraph), times3(r.ToWhile), known("%.2e", r.TrueResidual))
	}
	if err := t.Flush(); err != nil {
		return err
	}
	for i := range s.Rows {
		r := &s.Rows[i]
		if peer := s.Row(r.Peer); peer != nil {
			fmt.Fprintf(w, "%s takes %.2f %% of the time of %s\n", r.Name, 100*ratio(float64(r.Time), float64(peer.Time)), peer.Name)
		}
	}
	if s.Row("while") == nil {
		fmt.Fprintln(w, "there is no while: this device has no conditional nodes")
	}
	return nil
}
