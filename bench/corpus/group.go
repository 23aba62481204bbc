package main

import (
	"fmt"
	"io"
	"math"
)

// group sums up verdicts.
type group struct {
	inputs, unbeaten int
	worst            float64 // auto over the quickest other
	logs             float64 // of serial over auto
}

func (g *group) add(v verdict) {
	g.inputs++
	if !v.beaten() {
		g.unbeaten++
	}
	g.worst = max(g.worst, float64(v.auto)/float64(v.other))
	g.logs += math.Log(float64(v.serial) / float64(v.auto))
}

func (g *group) share() float64 { return float64(g.unbeaten) / float64(g.inputs) }

func (g *group) print(w io.Writer, name string) {
	fmt.Fprintf(w, "%s\t%d\t%.1f %%\t%.4fx\t%.3fx\t\n", name, g.inputs, 100*g.share(), g.worst, math.Exp(g.logs/float64(g.inputs)))
}
