package figure

import (
	"fmt"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/reprise-gpu/reprise/internal/bench/compare"
)

// perRow is the number of panels per row.
const perRow = 3

// speedup draws a panel per workload: at each size, the speedup over serial execution of the fastest way in Go and of
// the fastest C++ version. A point is the geometric mean over the block sizes; its bar spans the least and the
// greatest value. The time of the serial strategy is below each size.
func speedup(all []compare.Comparison) *figure {
	mean := func(best func(*compare.Comparison) string) float64 {
		values := perWorkload(all, func(c *compare.Comparison) float64 { return c.Row(best(c)).SpeedupOverSerial })
		return values[len(values)-1]
	}
	f := &figure{
		title:  fmt.Sprintf("Speedup over serial execution, whose time is below each size: %.2fx in Go, %.2fx in C++", mean(bestGo), mean(bestCPP)),
		legend: []entry{{name: "fastest in Go; dashed: geometric mean", color: blue}, {name: "fastest in C++", color: orange}},
	}
	var row []*plot.Plot
	for _, w := range workloads(all) {
		f.width = max(f.width, (2.2+0.95*max(4, vg.Length(len(sizesOf(w)))))*vg.Centimeter)
		if row = append(row, speedupPanel(w)); len(row) == perRow {
			f.panels, row = append(f.panels, row), nil
		}
	}
	if len(row) > 0 && len(f.panels) > 0 {
		row = append(row, make([]*plot.Plot, perRow-len(row))...)
	}
	if len(row) > 0 {
		f.panels = append(f.panels, row)
	}
	return f
}

func speedupPanel(w []compare.Comparison) *plot.Plot {
	sizes := sizesOf(w)
	var names []string
	for _, of := range sizes {
		serial := compare.GeometricMean(each(of, func(c *compare.Comparison) float64 { return c.Row("serial/graph", "serial/streams").ReplayUS }))
		names = append(names, count(of[0].Size)+"\n"+duration(serial))
	}
	p := newPanel(title(&w[0]), "speedup", names)
	level(p, 1, gray, false, "")
	greatest := 1.0
	for side, s := range []struct {
		entry
		best func(*compare.Comparison) string
	}{
		{entry{color: blue}, bestGo},
		{entry{color: orange}, bestCPP},
	} {
		var points bars
		for i, of := range sizes {
			values := known(each(of, func(c *compare.Comparison) float64 { return c.Row(s.best(c)).SpeedupOverSerial }))
			if len(values) == 0 {
				continue
			}
			mean := compare.GeometricMean(values)
			points.XYs = append(points.XYs, plotter.XY{X: float64(i) + 0.16*float64(2*side-1), Y: mean})
			points.YErrors = append(points.YErrors, struct{ Low, High float64 }{mean - slices.Min(values), slices.Max(values) - mean})
			greatest = max(greatest, slices.Max(values))
		}
		if len(points.XYs) == 0 {
			continue
		}
		points.add(p, s.entry)
		if side == 0 {
			mean := compare.GeometricMean(each(points.XYs, func(xy *plotter.XY) float64 { return xy.Y }))
			level(p, mean, s.color, true, fmt.Sprintf("%.2fx", mean))
		}
	}
	reach(p, greatest)
	return p
}

// bars holds points with error bars.
type bars struct {
	plotter.XYs
	plotter.YErrors
}

func (b bars) add(p *plot.Plot, e entry) {
	points, err := plotter.NewScatter(b.XYs)
	if err != nil {
		panic(fmt.Sprintf("BUG: %v", err))
	}
	points.GlyphStyle = draw.GlyphStyle{Color: e.color, Radius: vg.Points(3), Shape: draw.CircleGlyph{}}
	spread, err := plotter.NewYErrorBars(b)
	if err != nil {
		panic(fmt.Sprintf("BUG: %v", err))
	}
	spread.LineStyle.Color = e.color
	p.Add(spread, points)
}
