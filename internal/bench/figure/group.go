package figure

import (
	"fmt"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/reprise-gpu/reprise/internal/bench/compare"
)

// series is one bar per group.
type series struct {
	name   string
	values []float64 // one per group; 0 means no bar
}

// grouping is one wide panel with a group of bars for each workload.
type grouping struct {
	title, y string
	names    []string
	series   []series
	most     float64  // end of the y axis, 0 to fit the bars
	line     float64  // position of a horizontal line, 0 for none
	notes    []string // text above each group, nil for none
}

func (g *grouping) figure() *figure {
	p := newPanel("", g.y, g.names)
	width := 0.8 / float64(len(g.series))
	f := &figure{title: g.title, width: vg.Length(2+2.9*float64(max(3, len(g.names)))) * vg.Centimeter}
	greatest := g.line
	for i, s := range g.series {
		color := palette[i%len(palette)]
		f.legend = append(f.legend, entry{name: s.name, color: color})
		for group, v := range s.values {
			left := float64(group) - 0.4 + width*float64(i)
			greatest = max(greatest, v)
			g.bar(p, left, width, v, entry{name: s.name, color: color})
		}
	}
	if g.line > 0 {
		level(p, g.line, gray, true, "")
	}
	for i, text := range g.notes {
		note(p, float64(i), greatest*1.04, gray, text, draw.XCenter)
	}
	reach(p, greatest)
	if g.most > 0 && greatest > g.most {
		p.Y.Max = g.most
	}
	f.panels = [][]*plot.Plot{{p}}
	return f
}

// bar draws a bar. If the bar exceeds the axis, it is cut off and labelled with its value.
func (g *grouping) bar(p *plot.Plot, left, width, v float64, e entry) {
	if v == 0 {
		return
	}
	top := v
	if g.most > 0 && v > g.most {
		top = g.most
	}
	right := left + width*0.92
	box, err := plotter.NewPolygon(plotter.XYs{{X: left, Y: 0}, {X: right, Y: 0}, {X: right, Y: top}, {X: left, Y: top}})
	if err != nil {
		panic(fmt.Sprintf("BUG: %v", err))
	}
	box.Color = e.color
	box.LineStyle.Width = 0
	p.Add(box)
	if top < v {
		note(p, (left+right)/2, top*0.93, gray, fmt.Sprintf("%.1f", v), draw.XCenter)
	}
}

// perWorkload returns the geometric mean over the comparisons of each workload, followed by the mean of these.
func perWorkload(all []compare.Comparison, value func(*compare.Comparison) float64) (values []float64) {
	for _, w := range workloads(all) {
		values = append(values, compare.GeometricMean(each(w, value)))
	}
	return append(values, compare.GeometricMean(values))
}

// names returns the names of the workloads, followed by that of the mean.
func names(all []compare.Comparison) (list []string) {
	for _, w := range workloads(all) {
		list = append(list, title(&w[0]))
	}
	return append(list, "mean")
}

// ratio draws the time of each way divided by that of the fastest C++ version.
func ratio(all []compare.Comparison) *figure {
	g := grouping{title: "Time over that of the fastest C++ version; mean: geometric", y: "times as long", names: names(all), line: 1, most: 2.5}
	for _, name := range []string{"nimble/graph", "nimble/streams", "c++ async", "c++ graph", "c++ capture", "c++ graph1"} {
		g.series = append(g.series, series{name, perWorkload(all, func(c *compare.Comparison) float64 { return c.Row(name).RatioToBest })})
	}
	return g.figure()
}

// bound draws the contention-free lower bound divided by the time of the fastest ways.
func bound(all []compare.Comparison) *figure {
	of := func(best func(*compare.Comparison) string) []float64 {
		return perWorkload(all, func(c *compare.Comparison) float64 { return c.Row(best(c)).OfBound })
	}
	g := grouping{
		title: "Contention-free lower bound over the time: 1 is as fast as the dependencies allow; mean: geometric", y: "bound over time", names: names(all), line: 1,
		series: []series{
			{"serial", of(func(*compare.Comparison) string { return "serial/graph" })},
			{"fastest in Go", of(bestGo)},
			{"fastest in C++", of(bestCPP)},
		},
	}
	return g.figure()
}

// overlapping draws the four shares of each workload at its largest size, for the fastest way in Go with known
// overlap, with the speedup over serial execution above.
func overlapping(all []compare.Comparison) *figure {
	g := grouping{title: "Overlap of the fastest way in Go at the largest size, and its speedup over serial execution", y: "percent"}
	shares := [4]series{{name: "CT: kernels under transfers"}, {name: "TC: transfers under kernels"}, {name: "CC: kernels hidden by kernels"}, {name: "TOT: all that is hidden"}}
	for _, w := range workloads(all) {
		c := largest(w)
		r := lookedAt(c)
		if r == nil {
			continue
		}
		g.names = append(g.names, fmt.Sprintf("%s\n%s", title(c), count(c.Size)))
		g.notes = append(g.notes, fmt.Sprintf("%s %.2fx", r.Name, r.SpeedupOverSerial))
		for i, v := range []float64{r.Overlap.CT, r.Overlap.TC, r.Overlap.CC, r.Overlap.TOT} {
			shares[i].values = append(shares[i].values, 100*v)
		}
	}
	if g.names == nil {
		return nil
	}
	g.series = shares[:]
	return g.figure()
}

func largest(w []compare.Comparison) *compare.Comparison {
	most := &w[0]
	for i := range w {
		if w[i].Size > most.Size || w[i].Size == most.Size && w[i].Ratio < most.Ratio {
			most = &w[i]
		}
	}
	return most
}

// lookedAt returns the fastest row with known overlap, or nil.
func lookedAt(c *compare.Comparison) (best *compare.Row) {
	for i := range c.Rows {
		if r := &c.Rows[i]; r.Overlap != nil && r.OK && (best == nil || r.ReplayUS < best.ReplayUS) {
			best = r
		}
	}
	return best
}
