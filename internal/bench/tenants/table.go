package tenants

import (
	"fmt"
	"io"
	"math"
	"text/tabwriter"
)

// WriteTable prints the records as an aligned table. Times of a simulated device are virtual.
func WriteTable(w io.Writer, records []Record) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "tenants\tmode\tus/round\tGFLOP/s\tp50 us\tp99 us\tgoodput/s\tspread\tchance\tok\t")
	for i := range records {
		r := &records[i]
		gflops := "-"
		if r.GFlops > 0 {
			gflops = fmt.Sprintf("%.0f", r.GFlops)
		}
		fmt.Fprintf(t, "%d\t%s\t%.2f\t%s\t%.2f\t%.2f\t%.0f\t%.1f%%\t%s\t%s\t\n",
			r.Tenants, r.Mode, r.USPerRound, gflops, r.P50US, r.P99US, r.Goodput, 100*r.Spread, share(r.Chance), verdict(r))
	}
	return t.Flush()
}

// share returns a number in percent, or "-" for NaN.
func share(x float64) string {
	if math.IsNaN(x) {
		return "-"
	}
	return fmt.Sprintf("%.1f%%", 100*x)
}

func verdict(r *Record) string {
	switch {
	case r.OK == nil:
		return "sampled"
	case *r.OK:
		return "ok"
	}
	return "WRONG"
}
