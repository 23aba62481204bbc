package advice

import (
	"fmt"
	"io"
	"math"
	"strconv"

	"github.com/reprise-gpu/reprise/internal/ranking"
)

// choice compares options: the ways to run a program, or the lowerings of a loop. The first option has nothing to prepare, and the
// others are compared with it.
type choice struct {
	options     []option
	uncertainty float64 // relative, of predicted times
	replays     float64 // for which an option is chosen; 0 is no limit
	budget      int64   // most device memory in bytes; 0 is no limit
	unit        string  // what is replayed, in the plural
}

// option is one of them. Times are in us.
type option struct {
	name     string
	plan     ranking.Plan
	most     float64 // as plan.Prepare, at most
	measured float64 // as plan.Replay, on the device; 0 if it was not measured
}

// plan returns an option as package ranking compares it.
func (c *choice) plan(i int) (ranking.Plan, bool) { return c.options[i].plan, true }

// terms returns the conditions of the choice, without the number of replays.
func (c *choice) terms() ranking.Terms {
	t := ranking.Any()
	if c.budget > 0 {
		t.Bytes = c.budget
	}
	return t
}

// best returns the index of the chosen option, or -1 if none is within the budget.
func (c *choice) best() int {
	t := c.terms()
	if c.replays > 0 {
		t.Replays = c.replays
	}
	return ranking.Of(len(c.options), c.plan, t)
}

// picks returns which option is the quickest from which number of replays on.
func (c *choice) picks() (all []Pick) {
	for _, r := range ranking.Ranges(len(c.options), c.plan, c.terms()) {
		all = append(all, Pick{r.Plan, r.From})
	}
	return all
}

// breakEven returns the first number of replays for which an option takes no longer than the first one. It is 0 if there is
// none, and for the first one.
func (c *choice) breakEven(i int) float64 {
	n := c.options[i].plan.BreakEven(&c.options[0].plan)
	if i == 0 || math.IsInf(n, 1) {
		return 0
	}
	return max(1, n)
}

// between returns the bounds of breakEven. The clock may be off by its uncertainty, for both options alike, and so may
// the gain; the host took between the least and the most time to prepare. most is 0 if the gain is within the uncertainty.
func (c *choice) between(i int) (least, most float64) {
	if c.breakEven(i) == 0 {
		return 0, 0
	}
	o := &c.options[i]
	gain := c.options[0].plan.Replay - o.plan.Replay
	least = max(1, math.Ceil(o.plan.Prepare/(gain*(1+c.uncertainty))))
	if c.near(i, 0) || c.uncertainty >= 1 {
		return least, 0
	}
	return least, max(1, math.Ceil(o.most/(gain*(1-c.uncertainty))))
}

// near reports whether two options take equally long, within the uncertainty of predicted times.
func (c *choice) near(i, j int) bool {
	return math.Abs(math.Log(c.options[i].plan.Replay/c.options[j].plan.Replay)) < c.uncertainty
}

// gain formats the time of the first option divided by that of another one.
func (c *choice) gain(i int) string {
	mark := ""
	if first := c.options[0].plan.Replay; c.options[i].plan.Replay != first && c.near(i, 0) {
		mark = "≈"
	}
	return fmt.Sprintf("%s%.2f", mark, c.options[0].plan.Replay/c.options[i].plan.Replay)
}

// pays formats the number of replays from which an option pays, and its bounds.
func (c *choice) pays(i int) string {
	switch n := c.breakEven(i); {
	case i == 0:
		return "-"
	case n == 0:
		return "never"
	default:
		least, most := c.between(i)
		if most == 0 {
			return fmt.Sprintf("%.0f (from %.0f)", n, least)
		}
		return fmt.Sprintf("%.0f (%.0f to %.0f)", n, least, most)
	}
}

// column returns the title of the column of measured times, which exists only if times were measured.
func (c *choice) column() string {
	if c.options[0].measured == 0 {
		return ""
	}
	return "measured us\t"
}

// cell returns the cell of an option in that column.
func (c *choice) cell(i int) string {
	if c.options[0].measured == 0 {
		return ""
	}
	return fmt.Sprintf("%.2f\t", c.options[i].measured)
}

// writePicks prints which option is the quickest for which number of replays, and the verdict of measured times.
func (c *choice) writePicks(w io.Writer) error {
	within := ""
	if c.budget > 0 {
		within = fmt.Sprintf(" within %.3f MB", mb(c.budget))
	}
	fmt.Fprintf(w, "\nquickest%s, with the time to prepare:\n", within)
	all := c.picks()
	for i, p := range all {
		to := "on"
		if i+1 < len(all) {
			to = "to " + strconv.FormatFloat(all[i+1].From-1, 'f', 0, 64)
		}
		fmt.Fprintf(w, "  from %.0f %s %s: %s\n", p.From, c.unit, to, c.options[p.Way].name)
	}
	if c.options[0].measured == 0 {
		return nil
	}
	_, err := fmt.Fprintln(w, c.verdict())
	return err
}

// verdict states whether the chosen option is the quickest as measured.
func (c *choice) verdict() string {
	chosen := c.options[c.best()]
	quickest := chosen
	for _, o := range c.options {
		if o.measured < quickest.measured && o.plan.Bytes <= c.terms().Bytes {
			quickest = o
		}
	}
	switch excess := chosen.measured/quickest.measured - 1; {
	case c.replays > 0:
		return "the choice counts the time to prepare, which measured times do not include"
	case excess == 0:
		return "as measured, the choice is the quickest"
	case excess < c.uncertainty:
		return fmt.Sprintf("as measured, the choice takes %.2f %% longer than %s, which is within the uncertainty", 100*excess, quickest.name)
	default:
		return fmt.Sprintf("as measured, the choice takes %.2f %% longer than %s: WRONG", 100*excess, quickest.name)
	}
}

// writeSimpler names the option with the least preparation whose time differs from that of the chosen one by less than the
// uncertainty, unless that is the chosen one.
func (c *choice) writeSimpler(w io.Writer) error {
	at := c.best()
	chosen := &c.options[at].plan
	simplest := at
	for i, o := range c.options {
		if o.plan.Prepare < c.options[simplest].plan.Prepare && c.near(i, at) && o.plan.Bytes <= c.terms().Bytes {
			simplest = i
		}
	}
	if simplest == at {
		return nil
	}
	_, err := fmt.Fprintf(w, "%s is as quick within the uncertainty, and takes %.0f us to prepare instead of %.0f\n",
		c.options[simplest].name, c.options[simplest].plan.Prepare, chosen.Prepare)
	return err
}
