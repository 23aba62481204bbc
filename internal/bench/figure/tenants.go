package figure

import (
	"fmt"
	"image/color"
	"path/filepath"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"

	"github.com/reprise-gpu/reprise/internal/bench/tenants"
)

// modeColors has a colour for each mode.
var modeColors = map[string]color.Color{"exclusive": gray, "time": purple, "space": orange, "branches": sky, "batch": red, "spacetime": blue}

// WriteTenants draws two figures into a directory, which it creates if necessary, and returns their paths:
// throughput.svg and .png, the rate of requests in rounds over the number of tenants, and latency.svg and .png, the
// distribution of latencies at the greatest number of tenants.
func WriteTenants(dir string, records []tenants.Record) (paths []string, err error) {
	if err := Folder(dir); err != nil {
		return nil, err
	}
	for _, f := range []struct {
		name string
		*figure
	}{{"throughput", throughput(records)}, {"latency", latency(records)}} {
		f.legend = modeLegend(records)
		for _, format := range []string{"svg", "png"} {
			path := filepath.Join(dir, f.name+"."+format)
			if err := f.write(path, format); err != nil {
				return paths, err
			}
			paths = append(paths, path)
		}
	}
	return paths, nil
}

// modeLegend has an entry for each mode of the records.
func modeLegend(records []tenants.Record) (legend []entry) {
	for _, m := range tenants.Modes() {
		if slices.ContainsFunc(records, func(r tenants.Record) bool { return r.Mode == m.String() }) {
			legend = append(legend, entry{name: m.String(), color: modeColors[m.String()]})
		}
	}
	return legend
}

// throughput draws the rate of floating-point operations of each mode, or of requests if they are not counted. The rate
// of mode exclusive, with one tenant, is a horizontal line.
func throughput(records []tenants.Record) *figure {
	rate, unit := func(r *tenants.Record) float64 { return r.GFlops }, "GFLOP/s"
	if slices.ContainsFunc(records, func(r tenants.Record) bool { return r.GFlops == 0 }) {
		rate, unit = func(r *tenants.Record) float64 { return float64(r.Tenants) / r.USPerRound * 1e6 }, "requests per second"
	}
	return modeLines(records, fmt.Sprintf("Throughput of %s over the number of tenants", records[0].Program), "tenants", unit,
		func(r *tenants.Record) plotter.XYs { return plotter.XYs{{X: float64(r.Tenants), Y: rate(r)}} })
}

// latency draws the share of requests by latency, at the greatest number of tenants.
func latency(records []tenants.Record) *figure {
	most := slices.MaxFunc(records, func(a, b tenants.Record) int { return a.Tenants - b.Tenants }).Tenants
	last := slices.DeleteFunc(slices.Clone(records), func(r tenants.Record) bool { return r.Tenants != most && r.Mode != tenants.Exclusive.String() })
	title := fmt.Sprintf("Latency of %s with %d tenants (exclusive: 1)", records[0].Program, most)
	return modeLines(last, title, "us", "share of requests", func(r *tenants.Record) (points plotter.XYs) {
		for i, us := range r.Latencies {
			points = append(points, plotter.XY{X: us, Y: float64(i+1) / float64(len(r.Latencies))})
		}
		return points
	})
}

// modeLines draws a line per mode through the points of its records. One point alone becomes a horizontal line.
func modeLines(records []tenants.Record, title, x, y string, points func(*tenants.Record) plotter.XYs) *figure {
	f := &figure{title: title, about: records[0].Device, width: 16 * vg.Centimeter, height: 9 * vg.Centimeter}
	p := newPanel("", y, nil)
	p.X.Label.Text, p.X.Label.TextStyle.Font = x, p.Y.Label.TextStyle.Font
	p.X.Tick.Marker, p.X.Tick.Length = plot.TickerFunc(ticks), vg.Points(2)
	lines, right, top := linesOf(records, points)
	p.X.Min, p.X.Max = 0, right*1.02
	for _, m := range tenants.Modes() {
		at, c := lines[m.String()], modeColors[m.String()]
		switch {
		case len(at) == 0:
			continue
		case len(at) == 1:
			level(p, at[0].Y, c, true, "")
			continue
		}
		line, err := plotter.NewLine(at)
		if err != nil {
			panic(fmt.Sprintf("BUG: %v", err))
		}
		line.Color, line.Width = c, vg.Points(1.2)
		p.Add(line)
	}
	reach(p, top)
	f.panels = [][]*plot.Plot{{p}}
	return f
}

// linesOf returns the points by mode, and the greatest coordinates.
func linesOf(records []tenants.Record, points func(*tenants.Record) plotter.XYs) (lines map[string]plotter.XYs, right, top float64) {
	lines = map[string]plotter.XYs{}
	for i := range records {
		r := &records[i]
		for _, at := range points(r) {
			lines[r.Mode] = append(lines[r.Mode], at)
			right, top = max(right, at.X), max(top, at.Y)
		}
	}
	return lines, right, top
}
