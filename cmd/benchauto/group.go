package main

import (
	"fmt"
	"io"
	"math"
)

// group accumulates the verdicts on one group of inputs.
type group struct {
	inputs, unbeaten int
	worst            float64 // auto over the quickest other
	logs             float64 // of serial over auto
	searched         int
	behind           float64 // logarithms of auto over a longer search
	furthest         float64 // the greatest of these ratios
}

func (g *group) add(v verdict) {
	g.inputs++
	if !v.beaten() {
		g.unbeaten++
	}
	g.worst = max(g.worst, float64(v.auto)/float64(v.other))
	g.logs += math.Log(float64(v.serial) / float64(v.auto))
	if v.longer > 0 {
		ratio := float64(v.auto) / float64(v.longer)
		g.searched++
		g.behind += math.Log(ratio)
		g.furthest = max(g.furthest, ratio)
	}
}

// overLonger is auto over a search of ten times as many steps, in the geometric mean.
func (g *group) overLonger() float64 { return math.Exp(g.behind / float64(max(1, g.searched))) }

// longer is that and the worst, as a table has it.
func (g *group) longer() string {
	if g.searched == 0 {
		return ""
	}
	return fmt.Sprintf("%.4fx, %.4fx", g.overLonger(), g.furthest)
}

func (g *group) share() float64 { return float64(g.unbeaten) / float64(g.inputs) }

func (g *group) print(w io.Writer, name string) {
	fmt.Fprintf(w, "%s\t%d\t%.1f %%\t%.4fx\t%.3fx\t%s\t\n", name, g.inputs, 100*g.share(), g.worst, math.Exp(g.logs/float64(g.inputs)), g.longer())
}
