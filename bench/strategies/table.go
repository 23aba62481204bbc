package strategies

import (
	"fmt"
	"io"
	"text/tabwriter"
)

// WriteTable prints a table for each comparison, and one of standings when there are several.
func WriteTable(w io.Writer, all []*Comparison) error {
	for i, c := range all {
		if i > 0 {
			fmt.Fprintln(w)
		}
		if err := c.table(w); err != nil {
			return err
		}
	}
	if len(all) < 2 {
		return nil
	}
	fmt.Fprintf(w, "\nover %d graphs\n", len(all))
	t := columns(w)
	fmt.Fprintln(t, "strategy\tgraphs\tfastest on\tof bound, mean\t")
	for _, s := range Standings(all) {
		fmt.Fprintf(t, "%s\t%d\t%d\t%s\t\n", s.Strategy, s.Graphs, s.Fastest, times(s.OverBound))
	}
	return t.Flush()
}

func (c *Comparison) table(w io.Writer) error {
	fmt.Fprintf(w, "%s: %d operations, %d edges, %d not implied; bound %.2f us on %s\n", c.Graph, c.Ops, c.Edges, c.ReducedEdges, c.BoundUS, c.Device)
	t := columns(w)
	fmt.Fprintln(t, "strategy\tlanes\twaits\trecords\tpredicted us\tof bound\tplanning ms\t")
	for _, r := range c.Rows {
		if r.Error != "" {
			fmt.Fprintf(t, "%s\t-\t-\t-\t-\t-\t-\t\n", r.Strategy)
			continue
		}
		fmt.Fprintf(t, "%s\t%d\t%d\t%d\t%.2f\t%s\t%.2f\t\n", r.Strategy, r.Lanes, r.Waits, r.Records, r.PredictedUS, times(r.OverBound), r.PlanningMS)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	for _, r := range c.Rows {
		if r.Error != "" {
			fmt.Fprintf(w, "%s: %s\n", r.Strategy, r.Error)
		}
	}
	return nil
}

func columns(w io.Writer) *tabwriter.Writer {
	return tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
}

func times(ratio float64) string {
	if ratio == 0 {
		return "-"
	}
	return fmt.Sprintf("%.3fx", ratio)
}
