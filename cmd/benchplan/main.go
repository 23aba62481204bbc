package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"text/tabwriter"
	"time"
)

func main() {
	var o options
	flag.IntVar(&o.largest, "ops", 1_000_000, "launches of the largest program")
	flag.StringVar(&o.shape, "shape", "", "measure one shape only, and no family")
	flag.StringVar(&o.family, "family", "", "measure the growth of one family only, or of all, and no shape")
	flag.StringVar(&o.strategy, "strategy", "", "with -child and -family: plan by this strategy only")
	flag.StringVar(&o.boost, "boost", "", "compare reductions with this program, compiled from peers/boost.cpp")
	flag.StringVar(&o.python, "python", "", "compare reductions with the NetworkX of this Python")
	flag.BoolVar(&o.child, "child", false, "print the measurement of one program and end")
	flag.Parse()
	if err := o.run(os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

type options struct {
	largest       int
	shape         string
	boost, python string
	child         bool

	family, strategy string
}

func (o *options) run(w io.Writer) error {
	if o.family != "" {
		return o.runFamilies(w)
	}
	if o.shape != "" {
		return o.runShape(w)
	}
	missed := []error{o.runShapes(w, shapes), printFamilies(w, graphFamilies, o.largest)}
	if peers := o.peers(); len(peers) > 0 {
		missed = append(missed, compareReductions(w, peers))
	}
	return errors.Join(missed...)
}

func (o *options) runFamilies(w io.Writer) error {
	if o.family == "all" {
		return printFamilies(w, graphFamilies, o.largest)
	}
	f, err := familyNamed(o.family)
	switch {
	case err != nil:
		return err
	case !o.child:
		return printFamilies(w, []graphFamily{f}, o.largest)
	case o.strategy != "":
		return growthChild(f, o.largest, []string{o.strategy})
	}
	return growthChild(f, o.largest, plannedBy)
}

func (o *options) runShape(w io.Writer) error {
	s, err := shapeNamed(o.shape)
	if err != nil {
		return err
	}
	if o.child {
		return child(s, o.largest)
	}
	return o.runShapes(w, []shape{s})
}

// runShapes measures shapes, and returns an error for each goal that is missed.
func (o *options) runShapes(w io.Writer, chosen []shape) error {
	var missed []error
	for _, s := range chosen {
		largest, err := printShape(w, s, o.largest)
		if err != nil {
			return err
		}
		missed = append(missed, s.missed(&largest))
	}
	return errors.Join(missed...)
}

func (o *options) peers() (list []peer) {
	if o.boost != "" {
		list = append(list, boost(o.boost))
	}
	if o.python != "" {
		list = append(list, networkX(o.python))
	}
	return list
}

// printShape measures a shape at every power of ten from a thousand on, and returns the largest.
func printShape(w io.Writer, s shape, largest int) (m measurement, err error) {
	fmt.Fprintf(w, "%s: %s\n", s.name, s.doc)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "ops\tdeps\treduced\tlanes\twaits\ttrace\thazards\treduce\tassign+syncs\ttotal\tCPU\tpeak MB\t")
	var points []point
	for ops := 1000; ops <= largest; ops *= 10 {
		if m, err = quickest(s, ops); err != nil {
			return m, err
		}
		points = append(points, point{float64(m.Ops), m.total().Seconds()})
		fmt.Fprintf(t, "%d\t%d\t%d\t%d\t%d\t%v\t%v\t%v\t%v\t%v\t%v\t%.0f\t\n", m.Ops, m.Deps, m.Reduced, m.Lanes, m.Syncs,
			rounded(m.Trace), rounded(m.Hazards), rounded(m.Reduce), rounded(m.Assign), rounded(m.total()), rounded(m.CPU), m.PeakMB)
	}
	if err := t.Flush(); err != nil {
		return m, err
	}
	if len(points) > 1 {
		fmt.Fprintf(w, "total grows as ops^%.2f\n", exponent(points))
	}
	fmt.Fprintln(w)
	return m, nil
}

// rounded drops the digits that differ from run to run.
func rounded(d time.Duration) time.Duration {
	if d < 10*time.Millisecond {
		return d.Round(10 * time.Microsecond)
	}
	return d.Round(time.Millisecond)
}
