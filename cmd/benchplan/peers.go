package main

import (
	"bufio"
	"bytes"
	"cmp"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/reprise-gpu/reprise/ir"
	"github.com/reprise-gpu/reprise/optimizer"
)

//go:embed peers/networkx_reduce.py
var networkXProgram string

// peer is a program that reduces graphs with another library. Its input is a file with the numbers of nodes
// and edges, followed by the edges. It prints the seconds that the library took, and the remaining edges.
type peer struct {
	name    string
	command []string
	input   string
	floor   float64 // goal: the least ratio of its time to ours
}

// boost returns the peer that runs peers/boost.cpp, compiled.
func boost(program string) peer { return peer{"Boost", []string{program}, "", 20} }

func networkX(python string) peer {
	return peer{"NetworkX", []string{python, "-"}, networkXProgram, 200}
}

// compareReductions reduces layered programs of ten thousand launches here and with the peers.
func compareReductions(w io.Writer, peers []peer) error {
	fmt.Fprintln(w, "transitive reduction of 10000 launches: ours from graph to graph, the best of 5; Boost's alone, the best of 3; NetworkX's alone, once")
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(t, "shape\tedges\treduced\tours\t")
	for _, p := range peers {
		fmt.Fprintf(t, "%s\tratio\t", p.name)
	}
	fmt.Fprintln(t)
	var missed []error
	for _, name := range []string{"layered8", "layered64"} {
		g, err := dependencies(name, 10_000)
		if err != nil {
			return err
		}
		reduced, own, err := reduceHere(g)
		if err != nil {
			return err
		}
		fmt.Fprintf(t, "%s\t%d\t%d\t%v\t", name, len(g.Deps()), len(reduced), own.Round(time.Microsecond))
		for _, p := range peers {
			took, err := p.reduce(g, reduced)
			if err != nil {
				return fmt.Errorf("%s on %s: %w", p.name, name, err)
			}
			ratio := took.Seconds() / own.Seconds()
			fmt.Fprintf(t, "%v\t%.0f\t", took.Round(time.Microsecond), ratio)
			if ratio < p.floor {
				missed = append(missed, fmt.Errorf("on %s %s takes %.1f times as long as ours, and the goal is at least %.0f times", name, p.name, ratio, p.floor))
			}
		}
		fmt.Fprintln(t)
	}
	return errors.Join(t.Flush(), errors.Join(missed...))
}

// dependencies returns the graph of a program after hazard analysis.
func dependencies(name string, ops int) (*ir.Graph, error) {
	s, err := shapeNamed(name)
	if err != nil {
		return nil, err
	}
	trace, err := s.traced(ops)
	if err != nil {
		return nil, err
	}
	res, err := optimizer.Plan(trace.Graph, optimizer.Options{Passes: []string{"hazards"}})
	if err != nil {
		return nil, err
	}
	return res.Graph, nil
}

// arrow is an edge as peers print it.
type arrow struct{ from, to int32 }

func (a arrow) String() string { return fmt.Sprint(a.from, " ", a.to) }

func compareArrows(a, b arrow) int {
	return cmp.Or(cmp.Compare(a.to, b.to), cmp.Compare(a.from, b.from))
}

func reduceHere(g *ir.Graph) (edges []arrow, took time.Duration, err error) {
	took = math.MaxInt64
	for range 5 {
		clock := stopwatch{time.Now()}
		res, err := optimizer.Plan(g, optimizer.Options{Passes: []string{"hazards", "reduce"}})
		if err != nil {
			return nil, 0, err
		}
		took = min(took, clock.lap())
		edges = edges[:0]
		for _, d := range res.Graph.Deps() {
			edges = append(edges, arrow{int32(d.From), int32(d.To)})
		}
	}
	return edges, took, nil
}

// reduce runs the peer on g and compares the remaining edges with want. It returns the time that the peer reports.
func (p *peer) reduce(g *ir.Graph, want []arrow) (time.Duration, error) {
	file, err := writeEdges(g)
	if err != nil {
		return 0, err
	}
	defer os.Remove(file)
	cmd := exec.Command(p.command[0], append(slices.Clone(p.command[1:]), file)...)
	cmd.Stdin, cmd.Stderr = strings.NewReader(p.input), os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return 0, err
	}
	r := bufio.NewReader(bytes.NewReader(out))
	var seconds float64
	if _, err := fmt.Fscan(r, &seconds); err != nil {
		return 0, err
	}
	var edges []arrow
	for {
		var e arrow
		if _, err := fmt.Fscan(r, &e.from, &e.to); err == io.EOF {
			break
		} else if err != nil {
			return 0, err
		}
		edges = append(edges, e)
	}
	slices.SortFunc(edges, compareArrows)
	if !slices.Equal(edges, want) {
		return 0, fmt.Errorf("it leaves %d edges, and ours are %d: they must be the same edges", len(edges), len(want))
	}
	return time.Duration(seconds * float64(time.Second)), nil
}

func writeEdges(g *ir.Graph) (name string, err error) {
	f, err := os.CreateTemp("", "edges-*.txt")
	if err != nil {
		return "", err
	}
	w := bufio.NewWriter(f)
	fmt.Fprintln(w, g.Len(), len(g.Deps()))
	for _, d := range g.Deps() {
		fmt.Fprintln(w, int32(d.From), int32(d.To))
	}
	if err := w.Flush(); err != nil {
		f.Close()
		return "", err
	}
	return f.Name(), f.Close()
}
