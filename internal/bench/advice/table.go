package advice

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"text/tabwriter"

	"github.com/reprise-gpu/reprise/internal/uncertainty"
)

// WriteTable prints the ways, and which of them to choose.
func (a *Advice) WriteTable(w io.Writer) error {
	if _, err := fmt.Fprintf(w, "%s on %s: %d operations%s, times %s\n\n", a.title(), a.Device, a.Ops, loops(a.Loops), a.source()); err != nil {
		return err
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(t, "way\tlanes\twaits\tus/replay\t%sgain\tprepare us\tpays from\tmemory MB\twithout reuse\t\t\n", a.measured("measured us", nil))
	for i := range a.Ways {
		way := &a.Ways[i]
		mark := ""
		if way.Frontier {
			mark = "frontier"
		}
		fmt.Fprintf(t, "%s\t%d\t%d\t%.2f\t%s%s\t%.0f\t%s\t%.3f\t%.3f\t%s\t\n", way.Name, way.Lanes, way.Waits, way.ReplayUS, a.measured("", way), a.gain(way), way.PrepareUS, a.pays(i),
			mb(way.Bytes), mb(way.Unshared), mark)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	for _, why := range a.Excluded {
		fmt.Fprintf(w, "not %s\n", why)
	}
	return a.writeChoice(w)
}

// measured returns the cell of the column of measured times, which exists only if times were measured: its title, or the time
// of a way.
func (a *Advice) measured(title string, w *Way) string {
	switch {
	case a.Ways[0].MeasuredUS == 0:
		return ""
	case w == nil:
		return title + "\t"
	}
	return fmt.Sprintf("%.2f\t", w.MeasuredUS)
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

// gain formats the time of the program's calls divided by that of a way.
func (a *Advice) gain(w *Way) string {
	mark := ""
	if w.ReplayUS != a.Ways[0].ReplayUS && a.Near(w, &a.Ways[0]) {
		mark = "≈"
	}
	return fmt.Sprintf("%s%.2f", mark, a.Ways[0].ReplayUS/w.ReplayUS)
}

// pays formats the number of replays from which a way pays.
func (a *Advice) pays(i int) string {
	switch n := a.Ways[i].BreakEven; {
	case i == 0:
		return "-"
	case n == 0:
		return "never"
	default:
		return strconv.FormatFloat(n, 'f', 0, 64)
	}
}

func mb(bytes int64) float64 { return float64(bytes) / 1e6 }

// writeChoice prints which way is the quickest for which number of replays.
func (a *Advice) writeChoice(w io.Writer) error {
	within := ""
	if a.Budget > 0 {
		within = fmt.Sprintf(" within %.3f MB", mb(a.Budget))
	}
	fmt.Fprintf(w, "\nquickest%s, with the time to prepare:\n", within)
	for i, p := range a.Picks {
		to := "on"
		if i+1 < len(a.Picks) {
			to = "to " + strconv.FormatFloat(a.Picks[i+1].From-1, 'f', 0, 64)
		}
		fmt.Fprintf(w, "  from %.0f replays %s: %s\n", p.From, to, a.Ways[p.Way].Name)
	}
	chosen := &a.Ways[a.Chosen]
	if chosen.MeasuredUS > 0 {
		fmt.Fprintln(w, a.verdict(chosen))
	}
	fmt.Fprintf(w, "choose %s: strategy %s%s, back end %s, %.2f us a replay\n", chosen.Name, chosen.Strategy, also(chosen.Also), chosen.Backend, chosen.ReplayUS)
	if near := a.simplerNear(chosen); near != nil {
		_, err := fmt.Fprintf(w, "%s is as quick within the uncertainty, and takes %.0f us to prepare instead of %.0f\n", near.Name, near.PrepareUS, chosen.PrepareUS)
		return err
	}
	return nil
}

// verdict states whether the chosen way is the quickest as measured.
func (a *Advice) verdict(chosen *Way) string {
	best := chosen
	for i := range a.Ways {
		w := &a.Ways[i]
		if w.MeasuredUS < best.MeasuredUS && (a.Budget == 0 || w.Bytes <= a.Budget) {
			best = w
		}
	}
	switch excess := chosen.MeasuredUS/best.MeasuredUS - 1; {
	case a.Replays > 0:
		return "the choice counts the time to prepare, which measured times do not include"
	case excess == 0:
		return "as measured, the choice is the quickest"
	case excess < a.Uncertainty:
		return fmt.Sprintf("as measured, the choice takes %.2f %% longer than %s, which is within the uncertainty", 100*excess, best.Name)
	default:
		return fmt.Sprintf("as measured, the choice takes %.2f %% longer than %s: WRONG", 100*excess, best.Name)
	}
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

// simplerNear returns the way with the least preparation whose time differs from that of the chosen one by less than the
// uncertainty, or nil if that is the chosen one.
func (a *Advice) simplerNear(chosen *Way) *Way {
	var best *Way
	least := math.Inf(1)
	for i := range a.Ways {
		w := &a.Ways[i]
		if w.PrepareUS < least && a.Near(w, chosen) && (a.Budget == 0 || w.Bytes <= a.Budget) {
			best, least = w, w.PrepareUS
		}
	}
	if best == chosen || best == nil || best.PrepareUS >= chosen.PrepareUS {
		return nil
	}
	return best
}
