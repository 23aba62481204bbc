package figure

import (
	"fmt"
	"image/color"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/reprise-gpu/reprise/internal/bench/validation"
)

// bandFactor is the factor between predicted and measured time at the edges of the band.
const bandFactor = 1.25

// WriteValidation draws predicted over measured times on logarithmic axes, with a colour per class of kernels, the
// line of equal times and the band of a factor of 1.25. The suffix of the path, .svg or .png, is the format.
func WriteValidation(path string, report *validation.Report) error {
	return predictions(report).write(path, strings.TrimPrefix(filepath.Ext(path), "."))
}

func predictions(report *validation.Report) *figure {
	f := &figure{title: "Predicted over measured time of a kernel", about: accuracy(report), width: 14 * vg.Centimeter, height: 13 * vg.Centimeter}
	classes, least, greatest := byClass(report.Rows)
	p := newPanel("", "predicted us", nil)
	p.X.Label.Text, p.X.Label.TextStyle.Font = "measured us", p.Y.Label.TextStyle.Font
	lo, hi := math.Pow(10, math.Floor(math.Log10(least))), math.Pow(10, math.Ceil(math.Log10(greatest)))
	if lo == hi {
		hi *= 10
	}
	for _, axis := range []*plot.Axis{&p.X, &p.Y} {
		axis.Scale, axis.Tick.Marker, axis.Tick.Length = plot.LogScale{}, plot.TickerFunc(decades), vg.Points(2)
		axis.Min, axis.Max = lo, hi
	}
	band(p, lo, hi)
	for i, c := range classes {
		e := entry{name: fmt.Sprintf("%s (%d)", c.name, len(c.points)), color: classColors[i%len(classColors)]}
		f.legend = append(f.legend, e)
		scatter(p, c.points, e.color)
	}
	f.panels = [][]*plot.Plot{{p}}
	return f
}

// accuracy states the statistics of the rows.
func accuracy(report *validation.Report) string {
	const what = "line: equal times; band: a factor of 1.25"
	if report.All == nil {
		return what
	}
	a := report.All
	return fmt.Sprintf("%d rows without launches: geometric mean %.2f, median error %.0f %%, mean %.0f %%; %s", a.Rows, a.Geomean, 100*a.Median, 100*a.Mean, what)
}

// class is the points of one class of kernels.
type class struct {
	name   string
	points plotter.XYs
}

// byClass returns the rows that have a prediction by class, sorted by name, and the range of all times.
func byClass(rows []validation.Prediction) (classes []class, least, greatest float64) {
	least, greatest = math.Inf(1), 0
	for _, r := range rows {
		if r.Error != "" {
			continue
		}
		i := slices.IndexFunc(classes, func(c class) bool { return c.name == r.Class })
		if i < 0 {
			i = len(classes)
			classes = append(classes, class{name: r.Class})
		}
		classes[i].points = append(classes[i].points, plotter.XY{X: r.MeasuredUS, Y: r.PredictedUS})
		least, greatest = min(least, r.MeasuredUS, r.PredictedUS), max(greatest, r.MeasuredUS, r.PredictedUS)
	}
	if len(classes) == 0 {
		return nil, 1, 10
	}
	slices.SortFunc(classes, func(a, b class) int { return strings.Compare(a.name, b.name) })
	return classes, least, greatest
}

// classColors are distinct on the grey of the band.
var classColors = []color.Color{blue, orange, green, red, purple, color.Black, sky, gray}

// band draws the line of equal times and the band around it.
func band(p *plot.Plot, lo, hi float64) {
	area, err := plotter.NewPolygon(plotter.XYs{
		{X: lo, Y: lo}, {X: lo, Y: lo * bandFactor}, {X: hi / bandFactor, Y: hi}, {X: hi, Y: hi}, {X: hi, Y: hi / bandFactor}, {X: lo * bandFactor, Y: lo},
	})
	if err != nil {
		panic(fmt.Sprintf("BUG: a band from %v to %v: %v", lo, hi, err))
	}
	area.Color, area.LineStyle.Width = faint, 0
	line, err := plotter.NewLine(plotter.XYs{{X: lo, Y: lo}, {X: hi, Y: hi}})
	if err != nil {
		panic(fmt.Sprintf("BUG: a line from %v to %v: %v", lo, hi, err))
	}
	line.Color, line.Width = gray, vg.Points(0.8)
	p.Add(area, line)
}

func scatter(p *plot.Plot, points plotter.XYs, c color.Color) {
	s, err := plotter.NewScatter(points)
	if err != nil {
		panic(fmt.Sprintf("BUG: %v", err))
	}
	s.GlyphStyle = draw.GlyphStyle{Color: c, Radius: vg.Points(1.8), Shape: draw.CircleGlyph{}}
	p.Add(s)
}
