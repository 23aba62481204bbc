package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"strconv"
	"text/tabwriter"
	"time"

	"github.com/reprise-gpu/reprise/optimizer"
)

// nearLinear is the greatest exponent of size with which the time of a plan may grow, from a tenth of
// the largest size on. Memory beyond the caches alone makes it 1.1 to 1.3, and a quadratic step 2.
const nearLinear = 1.5

// plannedBy are the strategies that are measured: all but coloring, which refuses large graphs.
var plannedBy = []string{"serial", "roundrobin", "levels", "grcuda", "nimble", "nimble(8)", "mincover", "listsched", "auto"}

// growth is what a plan of one family by one strategy costs.
type growth struct {
	Ops, Lanes, Syncs, Undecided int
	CPU                          time.Duration
}

// printFamilies measures each family under each strategy at the largest size and a tenth of it, and
// returns what misses the goal.
func printFamilies(w io.Writer, largest int) error {
	fmt.Fprintf(w, "CPU time of all passes by family and strategy, and the exponent from %d operations; the goal is %.1f\n", largest/10, nearLinear)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "family\tstrategy\tops\tlanes\twaits\tundecided\tCPU\texponent\t")
	var missed []error
	for _, f := range graphFamilies {
		for _, strategy := range plannedBy {
			var points []point
			var last growth
			for _, ops := range []int{largest / 10, largest} {
				g, err := growthAside(f.name, strategy, ops)
				if err != nil {
					return err
				}
				points, last = append(points, point{float64(g.Ops), g.CPU.Seconds()}), g
			}
			e := exponent(points)
			fmt.Fprintf(t, "%s\t%s\t%d\t%d\t%d\t%d\t%v\t%.2f\t\n", f.name, strategy, last.Ops, last.Lanes, last.Syncs, last.Undecided, rounded(last.CPU), e)
			missed = append(missed, missedGrowth(f.name, strategy, e))
		}
	}
	return errors.Join(t.Flush(), errors.Join(missed...))
}

func missedGrowth(family, strategy string, exponent float64) error {
	if exponent <= nearLinear || math.IsNaN(exponent) {
		return nil
	}
	return fmt.Errorf("%s under %s takes time that grows as ops^%.2f, and the goal is %.1f", family, strategy, exponent, nearLinear)
}

// measureGrowth plans one graph in this process.
func measureGrowth(f graphFamily, strategy string, ops int) (m growth, err error) {
	g := f.planted(ops)
	before, _ := usage()
	res, err := optimizer.Plan(g, optimizer.Options{Strategy: strategy})
	if err != nil {
		return m, err
	}
	after, _ := usage()
	return growth{g.Len(), res.Schedule.Lanes, res.Schedule.Syncs(), res.UndecidedDeps + res.UndecidedWaits, after - before}, nil
}

// growthAside measures in a process of its own.
func growthAside(family, strategy string, ops int) (m growth, err error) {
	self, err := os.Executable()
	if err != nil {
		return m, err
	}
	cmd := exec.Command(self, "-child", "-family", family, "-strategy", strategy, "-ops", strconv.Itoa(ops))
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return m, fmt.Errorf("%s of %d operations under %s: %w", family, ops, strategy, err)
	}
	if err := json.Unmarshal(out, &m); err != nil {
		return m, fmt.Errorf("%s of %d operations under %s: %w", family, ops, strategy, err)
	}
	return m, nil
}

// growthChild prints the measurement of one plan.
func growthChild(family, strategy string, ops int) error {
	f, err := familyNamed(family)
	if err != nil {
		return err
	}
	m, err := measureGrowth(f, strategy, ops)
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(m)
}
