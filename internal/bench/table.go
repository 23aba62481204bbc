package bench

import (
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/reprise-gpu/reprise/internal/uncertainty"
)

// WriteTable prints the records as an aligned table. Times of a simulated
// device are virtual, and the heading says so.
func WriteTable(w io.Writer, records []Record) error {
	clock := "us/replay"
	if len(records) > 0 && records[0].Simulated {
		clock = "virtual us/replay"
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(t, "workload\tsize\tmemory\tstrategy\tback end\tops\tedges\treduced\tlanes\tsyncs\t%s\tspeedup\tmax error\tok\t\n", clock)
	for _, r := range records {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%d\t%d\t%d\t%d\t%d\t%.2f\t%.2fx\t%s\t%s\t\n",
			r.Workload, sizeText(r.Size), r.Memory, r.Strategy, r.Backend, r.Ops, r.Edges, r.ReducedEdges, r.Lanes, r.Syncs,
			r.ReplayUS, r.SpeedupOverSerial, maxError(&r), verdict(&r))
	}
	if err := t.Flush(); err != nil {
		return err
	}
	return writeUncertainties(w, records)
}

// writeUncertainties prints a line for each workload and size whose times are predicted.
func writeUncertainties(w io.Writer, records []Record) (err error) {
	type program struct {
		workload, memory string
		size             int
	}
	last := program{}
	for _, r := range records {
		p := program{r.Workload, r.Memory, r.Size}
		if r.Uncertainty == 0 || p == last {
			continue
		}
		last = p
		if _, err = fmt.Fprintf(w, "times of %s, %s: %s\n", named(p.workload, p.size), p.memory, uncertainty.Format(r.Uncertainty)); err != nil {
			return err
		}
	}
	return nil
}

func maxError(r *Record) string {
	if r.Sample > 0 {
		return "-"
	}
	return fmt.Sprintf("%.1e", r.MaxError)
}

func verdict(r *Record) string {
	switch {
	case r.Sample > 0:
		return "sampled"
	case r.OK:
		return "ok"
	}
	return "WRONG"
}

// sizeText prints a size in a table. A saved program has none.
func sizeText(size int) string {
	if size == 0 {
		return "-"
	}
	return fmt.Sprint(size)
}

// named prints a workload with its size, if it has one: "vec 1024".
func named(workload string, size int) string {
	if size == 0 {
		return workload
	}
	return fmt.Sprintf("%s %d", workload, size)
}
