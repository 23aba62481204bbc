package advice

import (
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/reprise-gpu/reprise/graphexec/loop"
	"github.com/reprise-gpu/reprise/solver"
)

// writeTable prints the lowerings, and which of them to choose.
func (l *Loop) writeTable(w io.Writer) error {
	fmt.Fprintf(w, "\nsolve of %d iterations%s, checked every %d:\n\n", l.Iterations, l.end(), l.CheckEvery)
	c := l.options()
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(t, "lowering\tbatch\tus/iteration\t%sgain\tprepare us\tpays from\t\n", c.column())
	for i := range l.Ways {
		way := &l.Ways[i]
		fmt.Fprintf(t, "%s\t%d\t%.2f\t%s%s\t%.0f\t%s\t\n", way.Name, way.Batch, way.IterationUS, c.cell(i), c.gain(i), way.PrepareUS, c.pays(i))
	}
	if err := t.Flush(); err != nil {
		return err
	}
	for _, why := range l.Excluded {
		fmt.Fprintf(w, "not %s\n", why)
	}
	if err := c.writePicks(w); err != nil {
		return err
	}
	chosen := &l.Ways[l.Chosen]
	if _, err := fmt.Fprintf(w, "choose %s: %s, %.2f us an iteration\n", chosen.Name, chosen.flags(), chosen.IterationUS); err != nil {
		return err
	}
	return c.writeSimpler(w)
}

// end states how the loop ends.
func (l *Loop) end() string {
	if l.Limited {
		return ", its limit"
	}
	return ""
}

// flags formats the options that select a way.
func (w *Lowering) flags() string {
	text := "solve --mode " + w.Mode
	if w.mode != solver.Loop {
		return text
	}
	text += " --lowering " + w.Lowering
	if w.lowering == loop.HostChecked {
		return text
	}
	return fmt.Sprintf("%s --batch %d", text, w.Batch)
}
