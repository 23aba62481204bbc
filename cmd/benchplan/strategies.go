package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"sync"
	"text/tabwriter"
	"time"

	"github.com/reprise-gpu/reprise/ir"
	"github.com/reprise-gpu/reprise/optimizer"
)

// nearLinear bounds the exponent with which planning time may grow with size, between a tenth of the largest size and
// the largest. A linear algorithm measures 1.1 to 1.3, because the larger size exceeds the caches; a quadratic step
// would measure 2.
const nearLinear = 1.5

// plannedBy lists the strategies that are measured. Coloring and search are missing: they refuse large graphs or leave
// them to auto.
var plannedBy = []string{"serial", "roundrobin", "levels", "grcuda", "nimble", "nimble(8)", "mincover", "listsched", "auto"}

// growth is the cost of planning a graph of one family by one strategy. It includes the passes before the strategy,
// which run once for all strategies.
type growth struct {
	Strategy                     string
	Ops, Lanes, Syncs, Undecided int
	CPU                          time.Duration
}

// printFamilies measures each family under each strategy at the largest size and a tenth of it, and
// returns an error for each growth beyond the goal.
func printFamilies(w io.Writer, families []graphFamily, largest int) error {
	fmt.Fprintf(w, "CPU time of all passes by family and strategy, and the exponent from %d operations; the goal is %.1f\n", largest/10, nearLinear)
	sizes := []int{largest / 10, largest}
	all, err := measureFamilies(families, sizes)
	if err != nil {
		return err
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "family\tstrategy\tops\tlanes\twaits\tundecided\tCPU\texponent\t")
	var missed []error
	for i, f := range families {
		small, large := all[i*len(sizes)], all[i*len(sizes)+1]
		for k, g := range large {
			e := exponent([]point{small[k].point(), g.point()})
			fmt.Fprintf(t, "%s\t%s\t%d\t%d\t%d\t%d\t%v\t%.2f\t\n", f.name, g.Strategy, g.Ops, g.Lanes, g.Syncs, g.Undecided, rounded(g.CPU), e)
			missed = append(missed, missedGrowth(f.name, g.Strategy, e))
		}
	}
	fmt.Fprintln(t)
	return errors.Join(t.Flush(), errors.Join(missed...))
}

func (g *growth) point() point { return point{float64(g.Ops), g.CPU.Seconds()} }

func missedGrowth(family, strategy string, exponent float64) error {
	if exponent <= nearLinear || math.IsNaN(exponent) {
		return nil
	}
	return fmt.Errorf("%s under %s takes time that grows as ops^%.2f, and the goal is %.1f", family, strategy, exponent, nearLinear)
}

// measureFamilies measures each family at each size, in processes of their own, two at a time. They may run
// concurrently because CPU time is measured, which depends little on other processes.
func measureFamilies(families []graphFamily, sizes []int) ([][]growth, error) {
	jobs := len(families) * len(sizes)
	all, errs := make([][]growth, jobs), make([]error, jobs)
	var group sync.WaitGroup
	free := make(chan struct{}, min(2, runtime.NumCPU()))
	for i := range jobs {
		free <- struct{}{}
		group.Go(func() {
			all[i], errs[i] = growthAside(families[i/len(sizes)].name, sizes[i%len(sizes)])
			<-free
		})
	}
	group.Wait()
	return all, errors.Join(errs...)
}

// measureGrowth plans one graph by each strategy in this process.
func measureGrowth(f graphFamily, ops int, strategies []string) (all []growth, err error) {
	reduced, before, err := planned(f.planted(ops), optimizer.Options{Passes: []string{"hazards", "reduce"}})
	if err != nil {
		return nil, err
	}
	for _, strategy := range strategies {
		res, took, err := planned(reduced.Graph, optimizer.Options{Strategy: strategy})
		if err != nil {
			return nil, err
		}
		undecided := reduced.UndecidedDeps + res.UndecidedWaits
		all = append(all, growth{strategy, res.Graph.Len(), res.Schedule.Lanes, res.Schedule.Syncs(), undecided, before + took})
	}
	return all, nil
}

// planned returns a plan and the CPU time of planning.
func planned(g *ir.Graph, opts optimizer.Options) (*optimizer.Result, time.Duration, error) {
	runtime.GC() // so that this plan does not pay for the garbage of the previous one
	before, _ := usage()
	res, err := optimizer.Plan(g, opts)
	after, _ := usage()
	return res, after - before, err
}

// growthAside measures one family at one size in a process of its own.
func growthAside(family string, ops int) (all []growth, err error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(self, "-child", "-family", family, "-ops", strconv.Itoa(ops))
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s of %d operations: %w", family, ops, err)
	}
	if err := json.Unmarshal(out, &all); err != nil {
		return nil, fmt.Errorf("%s of %d operations: %w", family, ops, err)
	}
	return all, nil
}

// growthChild prints the measurements of one family.
func growthChild(f graphFamily, ops int, strategies []string) error {
	m, err := measureGrowth(f, ops, strategies)
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(m)
}
