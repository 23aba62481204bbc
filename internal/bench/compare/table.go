package compare

import (
	"fmt"
	"io"
	"math"
	"text/tabwriter"

	"github.com/reprise-gpu/reprise/internal/bench"
	"github.com/reprise-gpu/reprise/internal/uncertainty"
)

// WriteTables writes a table for each comparison and one of their means.
func WriteTables(w io.Writer, all []Comparison) error {
	for i := range all {
		if err := all[i].write(w); err != nil {
			return err
		}
		fmt.Fprintln(w)
	}
	return writeMeans(w, all)
}

func (c *Comparison) write(w io.Writer) error {
	if c.Memory == bench.AsSaved.String() {
		fmt.Fprintf(w, "%s on %s%s: a saved program, of which there is no version in C++\n", c.Workload, c.Device, virtual(c.Simulated, c.Sample))
	} else {
		fmt.Fprintf(w, "%s at %d on %s%s: %s, blocks of %d threads, grids of %d\n",
			c.Workload, c.Size, c.Device, virtual(c.Simulated, c.Sample), c.Memory, c.Threads, c.Blocks)
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "\tus/replay\tevent us\tto graph\tto best\tover serial\tover sync\tof bound\tCT\tTC\tCC\tTOT\tlanes\tsyncs\tcalls\tmax error\tok\t")
	for i := range c.Rows {
		r := &c.Rows[i]
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%d\t%d\t%s\t%s\t%s\t\n",
			r.Name, micros(r.ReplayUS), micros(r.EventUS), c.times(r.RatioToGraph), c.times(r.RatioToBest),
			c.times(r.SpeedupOverSerial), c.times(r.SpeedupOverSync), percent(r.OfBound),
			r.shares(), r.Lanes, r.Syncs, calls(r), r.maxError(), r.verdict())
	}
	if err := t.Flush(); err != nil {
		return err
	}
	if c.Ratio > 0 {
		fmt.Fprintf(w, "%s takes %.2f %% of the time of %s; ", c.Best, 100*c.Ratio, c.BestCPP)
	}
	if c.BoundUS > 0 {
		fmt.Fprintf(w, "the contention-free lower bound is %s us\n", micros(c.BoundUS))
	} else {
		fmt.Fprintln(w, "the contention-free lower bound is unknown")
	}
	if err := c.writeThroughput(w); err != nil {
		return err
	}
	if c.Uncertainty == 0 {
		return nil
	}
	_, err := fmt.Fprintf(w, "times are %s; ratios with ≈ differ from 1 by less\n", uncertainty.Format(c.Uncertainty))
	return err
}

// times formats a ratio of predicted times, and marks one that differs from 1 by less than they are uncertain.
func (c *Comparison) times(v float64) string {
	if v != 0 && v != 1 && math.Abs(math.Log(v)) < c.Uncertainty {
		return "≈" + times(v)
	}
	return times(v)
}

// virtual returns the note for times that are not those of a GPU.
func virtual(simulated bool, sample int64) string {
	switch {
	case simulated && sample > 0:
		return fmt.Sprintf(" (simulated: virtual time, %d blocks of each launch run)", sample)
	case simulated:
		return " (simulated: virtual time)"
	}
	return ""
}

func writeMeans(w io.Writer, all []Comparison) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	memory := ""
	for _, m := range Means(all) {
		if m.Memory != memory {
			memory = m.Memory
			fmt.Fprintf(t, "geometric means, %s\tworkloads\tto graph\tto best\tover serial\tover sync\tof bound\t\n", memory)
		}
		fmt.Fprintf(t, "%s\t%d\t%s\t%s\t%s\t%s\t%s\t\n", m.Name, m.Workloads, times(m.RatioToGraph), times3(m.RatioToBest),
			times(m.SpeedupOverSerial), times(m.SpeedupOverSync), percent(m.OfBound))
	}
	if err := t.Flush(); err != nil {
		return err
	}
	return writeThroughputMeans(w, all)
}

// unknown is printed for unknown values.
const unknown = "-"

func micros(v float64) string { return known("%.2f", v) }

func times(v float64) string { return known("%.2fx", v) }

// times3 formats ratios that a run may fail by.
func times3(v float64) string { return known("%.3fx", v) }

func percent(v float64) string { return known("%.0f %%", 100*v) }

func known(format string, v float64) string {
	if v == 0 {
		return unknown
	}
	return fmt.Sprintf(format, v)
}

func calls(r *Row) string { return known("%.0f", float64(r.DriverCalls)) }

func (r *Row) shares() string {
	if r.Overlap == nil {
		return unknown + "\t" + unknown + "\t" + unknown + "\t" + unknown
	}
	o := r.Overlap
	return fmt.Sprintf("%.1f %%\t%.1f %%\t%.1f %%\t%.1f %%", 100*o.CT, 100*o.TC, 100*o.CC, 100*o.TOT)
}

func (r *Row) maxError() string {
	if !r.Checked {
		return unknown
	}
	return fmt.Sprintf("%.1e", r.MaxError)
}

func (r *Row) verdict() string {
	switch {
	case !r.OK:
		return "WRONG"
	case r.Sample > 0:
		return "sampled"
	case !r.Checked:
		return "unchecked"
	}
	return "ok"
}
