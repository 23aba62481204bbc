package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"text/tabwriter"
)

// goal is the share of inputs on which no strategy may be quicker than auto.
const goal = 0.95

// maxOverLonger bounds auto's time relative to a search of ten times as many steps, in the geometric mean.
const maxOverLonger = 1.01

func main() {
	only := flag.String("only", "", "plan only the inputs whose names begin with this")
	every := flag.Int("every", 1, "of these, plan the first of every `N`")
	verbose := flag.Bool("v", false, "print each input on which a strategy is quicker")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Stdout, pick{*only, *every}, *verbose, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// pick selects the inputs to plan.
type pick struct {
	only  string // prefix of their names
	every int    // the first of each group of this many inputs
}

func (p pick) from(all []input) (chosen []input, err error) {
	if p.every < 1 {
		return nil, fmt.Errorf("-every %d: the number must be at least 1", p.every)
	}
	named := slices.DeleteFunc(all, func(in input) bool { return !strings.HasPrefix(in.name, p.only) })
	if len(named) == 0 {
		return nil, fmt.Errorf("-only %s: no input has a name that begins with it", p.only)
	}
	for some := range slices.Chunk(named, p.every) {
		chosen = append(chosen, some[0])
	}
	return chosen, nil
}

func run(ctx context.Context, w io.Writer, p pick, verbose bool, files []string) error {
	chosen, err := p.from(inputs(files))
	if err != nil {
		return err
	}
	all, err := judgeAll(ctx, chosen)
	if err != nil && len(all) == 0 {
		return err
	}
	if verbose {
		printBeaten(w, all)
	}
	return errors.Join(err, printGroups(w, all), check(all))
}

func printBeaten(w io.Writer, all []verdict) {
	for _, v := range all {
		if v.beaten() {
			fmt.Fprintf(w, "%s: auto takes %d ns with %s, and %s %d ns\n", v.name, v.auto, v.chose, v.rival, v.other)
		}
	}
}

func printGroups(w io.Writer, all []verdict) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "inputs\tof them\tunbeaten\tworst\tover serial, mean\tover longer search, mean and worst\t")
	var names []string
	groups := map[string]*group{}
	for _, v := range all {
		for _, name := range []string{v.group, "all"} {
			if groups[name] == nil {
				groups[name] = &group{}
				names = append(names, name)
			}
			groups[name].add(v)
		}
	}
	for _, name := range names {
		if name != "all" {
			groups[name].print(t, name)
		}
	}
	groups["all"].print(t, "all")
	return t.Flush()
}

// check returns an error for the first goal that is missed.
func check(all []verdict) error {
	var whole group
	for _, v := range all {
		whole.add(v)
		if v.auto > v.serial {
			return fmt.Errorf("%s: auto is slower than serial: %d ns against %d ns", v.name, v.auto, v.serial)
		}
	}
	if whole.share() < goal {
		return fmt.Errorf("no strategy is quicker than auto on %.1f %% of the inputs: the goal is %.0f %%", 100*whole.share(), 100*goal)
	}
	if over := whole.overLonger(); over > maxOverLonger {
		return fmt.Errorf("auto takes %.4f times as long as a search of ten times as many steps, in the geometric mean: the goal is %.2f", over, maxOverLonger)
	}
	return nil
}
