package validation

import (
	"fmt"
	"io"
	"strings"
)

// line formats statistics as one line of the table.
func (s *Statistics) line() string {
	return fmt.Sprintf("%4d %7.2f %7.0f%% %7.0f%% %7.0f%% %8.2fx  %.2f %s",
		s.Rows, s.Geomean, 100*s.Median, 100*s.Mean, 100*s.P90, s.P90Factor, s.Worst, s.WorstID)
}

// WriteTable prints the statistics of results, after the rows that failed.
func WriteTable(w io.Writer, results []Result, s *Summary) error {
	var b strings.Builder
	failed := 0
	for i := range results {
		if r := &results[i]; r.Err != nil {
			failed++
			fmt.Fprintf(&b, "FAILED %s: %v\n", r.Row.ID, r.Err)
		}
	}
	if failed < len(results) {
		s.write(&b)
	}
	if failed > 0 {
		fmt.Fprintf(&b, "%d of %d rows failed\n", failed, len(results))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (s *Summary) write(b *strings.Builder) {
	fmt.Fprintf(b, "%-22s %4s %7s %8s %8s %8s %9s  %s\n", "", "rows", "geomean", "median", "mean", "p90", "p90", "worst")
	if s.All != nil {
		fmt.Fprintf(b, "%-22s %s\n", "all but launch", s.All.line())
	}
	for _, g := range s.Groups {
		fmt.Fprintf(b, "by %s\n", g.By)
		for _, one := range g.List {
			fmt.Fprintf(b, "  %-20s %s\n", one.Name, one.line())
		}
	}
	for _, h := range s.Held {
		fmt.Fprintf(b, "constants fitted without the %s of a row\n", h.By)
		fmt.Fprintf(b, "  %-20s %s\n", "all but launch", h.Predicted.line())
		for _, c := range h.Constants {
			fmt.Fprintf(b, "  %-20s times %.2f to %.2f\n", c.Name, c.Least, c.Greatest)
		}
	}
}

// WriteRows prints a line for each result.
func WriteRows(w io.Writer, results []Result) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%-46s %10s %10s %6s  %-10s %-16s %s\n", "row", "measured", "predicted", "ratio", "class", "bound by", "one launch")
	for i := range results {
		r := &results[i]
		if r.Err != nil {
			fmt.Fprintf(&b, "%-46s FAILED %v\n", r.Row.ID, r.Err)
			continue
		}
		fmt.Fprintf(&b, "%-46s %10.2f %10.2f %6.2f  %-10s %-16s %s\n", r.Row.ID, r.Row.MeasuredUS, r.PredictedUS, r.Ratio(), r.Row.Class, r.Limit, r.Detail)
	}
	_, err := io.WriteString(w, b.String())
	return err
}
