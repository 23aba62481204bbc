package calibrate

import (
	"fmt"
	"io"
	"math"
	"text/tabwriter"
)

// WriteTable writes the results: each figure with its unit in its name, its value in the base profile, the ratio, the
// spread and the origin.
func (r *Result) WriteTable(w io.Writer) error {
	if _, err := fmt.Fprintf(w, "%s\n\n", r.File.About); err != nil {
		return err
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "figure\tvalue\tbase\tratio\tspread\tfrom")
	for _, row := range r.Rows {
		base, ratio := "-", "-"
		if !math.IsNaN(row.Base) {
			base = figure(row.Base)
			if row.Base != 0 {
				ratio = fmt.Sprintf("%.3f", row.Value/row.Base)
			}
		}
		spread := "-"
		if row.From == measured {
			spread = fmt.Sprintf("%.1f%%", 100*row.Spread)
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\n", row.Name, figure(row.Value), base, ratio, spread, row.From)
	}
	return t.Flush()
}

// figure formats a number with four digits, and a whole number in full.
func figure(v float64) string {
	if v == math.Trunc(v) && math.Abs(v) < 1e15 {
		return fmt.Sprintf("%.0f", v)
	}
	if math.Abs(v) >= 1000 {
		return fmt.Sprintf("%.0f", v)
	}
	return fmt.Sprintf("%.4g", v)
}
