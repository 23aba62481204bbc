package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"text/tabwriter"
)

// goal is the share of inputs on which no strategy may be quicker than auto.
const goal = 0.95

func main() {
	only := flag.String("only", "", "plan only the inputs whose names begin with this")
	verbose := flag.Bool("v", false, "print each input on which a strategy is quicker")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Stdout, *only, *verbose, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, w io.Writer, only string, verbose bool, files []string) error {
	var chosen []input
	for _, in := range inputs(files) {
		if strings.HasPrefix(in.name, only) {
			chosen = append(chosen, in)
		}
	}
	if len(chosen) == 0 {
		return fmt.Errorf("there is no input whose name begins with %q", only)
	}
	all, err := judgeAll(ctx, chosen)
	if err != nil {
		return err
	}
	if verbose {
		printBeaten(w, all)
	}
	if err := printGroups(w, all); err != nil {
		return err
	}
	return check(all)
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
	fmt.Fprintln(t, "inputs\tof them\tunbeaten\tworst\tover serial, mean\t")
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

// check reports what falls short of the goal.
func check(all []verdict) error {
	var whole group
	for _, v := range all {
		whole.add(v)
		if v.auto > v.serial {
			return fmt.Errorf("%s: auto is slower than serial: %d ns, and %d ns", v.name, v.auto, v.serial)
		}
	}
	if whole.share() < goal {
		return fmt.Errorf("no strategy is quicker than auto on %.1f %% of the inputs: the goal is %.0f %%", 100*whole.share(), 100*goal)
	}
	return nil
}
