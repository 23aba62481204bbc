package strategies

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// WriteTable writes a table for each comparison, and a summary if there are several.
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
	fmt.Fprintln(t, "strategy\tgraphs\tfastest on\tto bound, mean\t")
	for _, s := range Standings(all) {
		fmt.Fprintf(t, "%s\t%d\t%d\t%s\t\n", s.Strategy, s.Graphs, s.Fastest, times(s.OverBound))
	}
	return t.Flush()
}

func (c *Comparison) table(w io.Writer) error {
	fmt.Fprintf(w, "%s: %d operations, %d edges, %d not implied; bound %.2f us on %s", c.Graph, c.Ops, c.Edges, c.ReducedEdges, c.BoundUS, c.Device)
	if bytes := c.before(); bytes > 0 {
		fmt.Fprintf(w, "; %.2f MB of buffers", megabytes(bytes))
	}
	if c.Assumed != "" {
		fmt.Fprintf(w, "; %s", c.Assumed)
	}
	fmt.Fprintln(w)
	t := columns(w)
	memory := ""
	if c.before() > 0 {
		memory = "memory MB\tleast MB\t"
	}
	fmt.Fprintf(t, "strategy\tlanes\twaits\trecords\tpredicted us\tto bound\t%splanning ms\t\n", memory)
	for _, r := range c.Rows {
		if r.Error != "" {
			fmt.Fprintf(t, "%s\t%s\n", r.Strategy, strings.Repeat("-\t", 6+strings.Count(memory, "\t")))
			continue
		}
		if memory != "" {
			memory = fmt.Sprintf("%.2f\t%.2f\t", megabytes(r.Memory.After), megabytes(r.Memory.Bound))
		}
		fmt.Fprintf(t, "%s\t%d\t%d\t%d\t%.2f\t%s\t%s%.2f\t\n", r.Strategy, r.Lanes, r.Waits, r.Records, r.PredictedUS, times(r.OverBound), memory, r.PlanningMS)
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

// before returns the size of the buffers without a memory plan, in bytes.
func (c *Comparison) before() (bytes int64) {
	for _, r := range c.Rows {
		bytes = max(bytes, r.Memory.Before)
	}
	return bytes
}

func megabytes(bytes int64) float64 { return float64(bytes) / 1e6 }

func columns(w io.Writer) *tabwriter.Writer {
	return tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
}

func times(ratio float64) string {
	if ratio == 0 {
		return "-"
	}
	return fmt.Sprintf("%.3fx", ratio)
}
