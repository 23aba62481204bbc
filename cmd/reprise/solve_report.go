package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/reprise-gpu/reprise/auto"
	"github.com/reprise-gpu/reprise/internal/bench/figure"
	"github.com/reprise-gpu/reprise/solver"
)

// solveRow is the result of one method in one mode.
type solveRow struct {
	solver.Result
	Systems          int     `json:"systems,omitempty"` // solved at the same time, if several; the figures are of the last one to end
	SpeedupOverEager float64 `json:"speedup_over_eager,omitempty"`
	Error            string  `json:"error,omitempty"`
	err              error
}

// stopped reports whether the row was interrupted. Its figures are then those of the iterations so far.
func (r *solveRow) stopped() bool { return errors.Is(r.err, context.Canceled) }

// report prints the completed rows, writes the files of --json, --out and --plot, and returns the error that ends the
// program: stopped if the run was interrupted or failed, or else the error of the last method that failed.
func (f *solveFlags) report(c *cobra.Command, rows []solveRow, x []float64, stopped error) error {
	if len(rows) == 0 {
		return stopped
	}
	for i := range rows {
		rows[i].SpeedupOverEager = overEager(&rows[i], rows)
	}
	if stopped != nil {
		stopped = aside(stopped, &f.json, &f.out)
	}
	if f.json != "-" {
		if err := writeSolves(c.OutOrStdout(), rows); err != nil {
			return err
		}
	}
	if f.json != "" {
		if err := writeJSON(f.json, c.OutOrStdout(), representable(rows)); err != nil {
			return err
		}
	}
	if f.out != "" && x != nil {
		if err := writeVector(f.out, x); err != nil {
			return err
		}
	}
	if f.plot != "" {
		if _, err := figure.WriteResiduals(f.plot, f.residuals(rows)); err != nil {
			return err
		}
	}
	if stopped != nil {
		return stopped
	}
	return failures(c.ErrOrStderr(), rows)
}

// failures returns the last error of a method, and prints the other ones.
func failures(to io.Writer, rows []solveRow) (last error) {
	said := map[string]bool{}
	for _, r := range rows {
		if r.err == nil || said[r.Error] {
			continue
		}
		if last != nil {
			fmt.Fprintf(to, "reprise: %v\n", last)
		}
		said[r.Error], last = true, r.err
	}
	return last
}

// overEager returns the time of an eager iteration of the same method divided by that of r's, or 0 without an eager
// row.
func overEager(r *solveRow, rows []solveRow) float64 {
	for _, e := range rows {
		if e.Method == r.Method && e.Mode == solver.Eager.String() && r.TimePerIteration > 0 {
			return float64(e.TimePerIteration) / float64(r.TimePerIteration)
		}
	}
	return 0
}

func writeSolves(to io.Writer, rows []solveRow) error {
	r := rows[0]
	virtual := ""
	if r.Simulated {
		virtual = ", simulated: virtual time"
	}
	several := ""
	if r.Systems > 1 {
		several = fmt.Sprintf("%d right-hand sides at the same time, ", r.Systems)
	}
	fmt.Fprintf(to, "%s%d unknowns, %d entries, %s precision, %s%s\n", several, r.Unknowns, r.Entries, r.Precision, r.Device, virtual)
	w := tabwriter.NewWriter(to, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "METHOD\tMODE\tITERATIONS\tRESIDUAL\tTRUE RESIDUAL\tOPS\tLANES\tUS/ITERATION\tTOTAL US\tSPEEDUP\t")
	for _, r := range rows {
		speedup := "-"
		if r.SpeedupOverEager > 0 {
			speedup = fmt.Sprintf("%.2f", r.SpeedupOverEager)
		}
		verdict := "ok"
		residual, actual := "-", "-"
		if len(r.History) > 0 {
			residual, actual = fmt.Sprintf("%.2e", r.Residual), fmt.Sprintf("%.2e", r.TrueResidual)
		}
		if r.Steps {
			actual = "-"
		}
		switch {
		case r.stopped():
			verdict = "stopped"
		case r.err != nil:
			verdict = "FAILED"
		case len(r.History) == 0:
			verdict = "sampled"
		}
		fmt.Fprintf(w, "%s\t%s\t%d\t%s\t%s\t%d\t%d\t%.2f\t%.1f\t%s\t%s\n", r.Method, r.Mode, r.Iterations, residual, actual,
			r.Operations, r.Lanes, micros(r.TimePerIteration), micros(r.Time), speedup, verdict)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	for _, r := range rows {
		switch {
		case r.Auto != nil:
			fmt.Fprintf(to, "%s %s: %s\n", r.Method, r.Mode, found(r.Auto))
		case r.Lowering != "" && r.Why != "":
			fmt.Fprintf(to, "%s %s: lowering %s, %s\n", r.Method, r.Mode, r.Lowering, r.Why)
		}
	}
	return nil
}

// found describes what automatic replay has detected.
func found(s *auto.Stats) string {
	said := fmt.Sprintf("%d of %d launches in %d replays", s.Replayed, s.Calls, s.Replays)
	if s.Reason != "" {
		said += "; at the end none, as " + s.Reason
	}
	return said
}

func micros(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1000 }

// representable replaces infinities and NaN, which JSON cannot represent, by the greatest number.
func representable(rows []solveRow) []solveRow {
	clip := func(v *float64) {
		if math.IsNaN(*v) || math.IsInf(*v, 0) {
			*v = math.MaxFloat64
		}
	}
	for i := range rows {
		clip(&rows[i].Residual)
		clip(&rows[i].TrueResidual)
		clip(&rows[i].Eigenvalue)
		for k := range rows[i].History {
			clip(&rows[i].History[k])
		}
	}
	return rows
}

// residuals returns a curve of residuals for each method. All modes of a method have the same.
func (f *solveFlags) residuals(rows []solveRow) figure.Residuals {
	r := rows[0]
	all := figure.Residuals{
		Title: fmt.Sprintf("%s: residual by iteration", f.matrix),
		About: fmt.Sprintf("%d unknowns, %d entries, %s precision, preconditioner %s; %s", r.Unknowns, r.Entries, r.Precision, f.preconditioner, r.Device),
	}
	for _, r := range rows {
		if n := len(all.Curves); n == 0 || all.Curves[n-1].Name != r.Method {
			all.Curves = append(all.Curves, figure.Curve{Name: r.Method, Values: r.History})
		}
	}
	return all
}

// writeVector writes a vector as a Matrix Market array with one column. Reading it gives the same numbers.
func writeVector(path string, x []float64) error {
	text := fmt.Appendf(nil, "%%%%MatrixMarket matrix array real general\n%d 1\n", len(x))
	for _, v := range x {
		text = append(strconv.AppendFloat(text, v, 'g', -1, 64), '\n')
	}
	return writeFile(path, text)
}
