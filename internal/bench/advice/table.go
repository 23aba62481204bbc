package advice

import (
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/reprise-gpu/reprise/internal/uncertainty"
)

// WriteTable prints the ways, and which of them to choose.
func (a *Advice) WriteTable(w io.Writer) error {
	if _, err := fmt.Fprintf(w, "%s on %s: %d operations%s, times %s\n\n", a.title(), a.Device, a.Ops, loops(a.Loops), a.source()); err != nil {
		return err
	}
	c := a.options()
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(t, "way\tlanes\twaits\tus/replay\t%sgain\tprepare us\tpays from\tmemory MB\twithout reuse\t\t\n", c.column())
	for i := range a.Ways {
		way := &a.Ways[i]
		mark := ""
		if way.Frontier {
			mark = "frontier"
		}
		fmt.Fprintf(t, "%s\t%d\t%d\t%.2f\t%s%s\t%.0f\t%s\t%.3f\t%.3f\t%s\t\n", way.Name, way.Lanes, way.Waits, way.ReplayUS, c.cell(i), c.gain(i), way.PrepareUS, c.pays(i),
			mb(way.Bytes), mb(way.Unshared), mark)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	for _, why := range a.Excluded {
		fmt.Fprintf(w, "not %s\n", why)
	}
	if err := a.writeChoice(w); err != nil || a.Loop == nil {
		return err
	}
	return a.Loop.writeTable(w)
}

func (a *Advice) title() string {
	if a.Size > 0 {
		return fmt.Sprintf("%s %d", a.Program, a.Size)
	}
	return a.Program
}

// source names where the times come from.
func (a *Advice) source() string {
	if a.Uncertainty == 0 {
		return a.Costs
	}
	return a.Costs + ", " + uncertainty.Format(a.Uncertainty)
}

func loops(n int) string {
	switch n {
	case 0:
		return ""
	case 1:
		return ", one loop or branch (a node of a graph; decided by the host over streams)"
	}
	return fmt.Sprintf(", %d loops and branches (nodes of a graph; decided by the host over streams)", n)
}

func mb(bytes int64) float64 { return float64(bytes) / 1e6 }

// writeChoice prints which way is the quickest for which number of replays.
func (a *Advice) writeChoice(w io.Writer) error {
	c := a.options()
	if err := c.writePicks(w); err != nil {
		return err
	}
	chosen := &a.Ways[a.Chosen]
	_, err := fmt.Fprintf(w, "choose %s: strategy %s%s, back end %s, %.2f us a replay\n", chosen.Name, chosen.Strategy, also(chosen.Also), chosen.Backend, chosen.ReplayUS)
	if err != nil {
		return err
	}
	return c.writeSimpler(w)
}

func also(passes []string) string {
	text := ""
	for i, p := range passes {
		if i > 0 {
			text += ","
		}
		text += p
	}
	if text == "" {
		return ""
	}
	return " with " + text
}
