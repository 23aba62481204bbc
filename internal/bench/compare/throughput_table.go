package compare

import (
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/reprise-gpu/reprise/internal/bench"
)

// writeThroughput prints the table of bursts, if there are any.
func (c *Comparison) writeThroughput(w io.Writer) error {
	if c.Throughput == nil {
		return nil
	}
	fmt.Fprintf(w, "\n%d replays of %s, submitted back to back:\n", c.Throughput.Burst, bench.At(c.Workload, c.Size))
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "\tus/replay\tthroughput\tlatency us\tof replays\tmore MB\tbytes\tok\t")
	for _, r := range c.all() {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%d\t%s\t%s\t%s\t\n", r.Name, micros(r.BurstUS), c.times(r.Gain), micros(r.ReplayUS),
			max(1, r.Copies), megabytes(r.AddedBytes), r.bytes(), r.verdict())
	}
	if err := t.Flush(); err != nil {
		return err
	}
	if r := c.find("c++ " + copied); r != nil {
		fmt.Fprintf(w, "%s is %d graphs with memory of their own, on streams of their own: it is not counted as the best C++ version\n", r.Name, r.Copies)
	}
	if c.Throughput.BestCPP == "" {
		return nil
	}
	_, err := fmt.Fprintf(w, "%s has %.2f times the throughput of %s\n", c.Throughput.Best, c.Throughput.Gain, c.Throughput.BestCPP)
	return err
}

func megabytes(bytes int64) string { return known("%.1f", float64(bytes)/1e6) }

// bytes says how the memory after a burst was checked: against serial replays, byte by byte, or by a CPU reference.
func (r *Row) bytes() string {
	switch {
	case r.BurstHash != "":
		return "same"
	case r.Checked && r.Language == "c++":
		return "checked"
	}
	return unknown
}

func writeThroughputMeans(w io.Writer, all []Comparison) error {
	means := ThroughputMeans(all)
	if means == nil {
		return nil
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "\ngeometric means of bursts\tworkloads\tthroughput\tlatency\t")
	for _, m := range means {
		fmt.Fprintf(t, "%s\t%d\t%s\t%s\t\n", m.Name, m.Workloads, times3(m.Gain), times3(m.Latency))
	}
	return t.Flush()
}
