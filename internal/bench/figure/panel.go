package figure

import (
	"fmt"
	"image/color"
	"math"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Colours that are distinct in print and for the colour-blind (Okabe and Ito).
var (
	blue    = color.RGBA{0, 114, 178, 255}
	orange  = color.RGBA{230, 159, 0, 255}
	green   = color.RGBA{0, 158, 115, 255}
	red     = color.RGBA{213, 94, 0, 255}
	sky     = color.RGBA{86, 180, 233, 255}
	purple  = color.RGBA{204, 121, 167, 255}
	gray    = color.Gray{110}
	faint   = color.Gray{225}
	palette = []color.Color{blue, sky, green, orange, red, purple, gray}
	dashes  = []vg.Length{vg.Points(3), vg.Points(2)}
)

// newPanel returns an empty panel with one position on its x axis per name.
func newPanel(title, y string, names []string) *plot.Plot {
	p := plot.New()
	p.Title.Text, p.Y.Label.Text = title, y
	p.Title.TextStyle = letters(10, color.Black)
	p.Title.TextStyle.XAlign, p.Title.TextStyle.YAlign = draw.XCenter, draw.YTop
	p.Title.Padding = 2
	p.Y.Label.TextStyle.Font = letters(8, gray).Font
	for _, axis := range []*plot.Axis{&p.X, &p.Y} {
		axis.Tick.Label.Font = letters(7, gray).Font
		axis.LineStyle.Color, axis.Tick.LineStyle.Color = gray, gray
	}
	places := make(plot.ConstantTicks, len(names))
	for i, name := range names {
		places[i] = plot.Tick{Value: float64(i), Label: name}
	}
	p.X.Tick.Marker = places
	p.X.Tick.Length = 0
	p.X.Min, p.X.Max = -0.6, float64(len(names))-0.4
	p.Y.Min = 0
	p.Y.Tick.Marker = plot.TickerFunc(ticks)
	grid := plotter.NewGrid()
	grid.Vertical.Width = 0
	grid.Horizontal.Color = faint
	p.Add(grid)
	return p
}

// ticks returns at most six ticks, at steps of 1, 2.5 or 5 times a power of ten.
func ticks(from, to float64) (list []plot.Tick) {
	decade := math.Pow(10, math.Ceil(math.Log10(to-from)))
	step := decade
	for _, part := range []float64{0.5, 0.25, 0.1, 0.05, 0.025} {
		if (to-from)/(decade*part) <= 6 {
			step = decade * part
		}
	}
	for i := math.Ceil(from / step); i*step <= to; i++ {
		list = append(list, plot.Tick{Value: i * step, Label: strconv.FormatFloat(i*step, 'g', 6, 64)})
	}
	return list
}

// level draws a horizontal line with a label above its right end, and makes room for the label.
func level(p *plot.Plot, y float64, c color.Color, dashed bool, label string) {
	f := plotter.NewFunction(func(float64) float64 { return y })
	f.Color, f.Width, f.Samples = c, vg.Points(0.8), 2
	if dashed {
		f.Dashes = dashes
	}
	p.Add(f)
	if label == "" {
		return
	}
	p.X.Max += 0.5
	note(p, p.X.Max, y, c, label, draw.XRight)
}

// note writes a text just above a point.
func note(p *plot.Plot, x, y float64, c color.Color, label string, align draw.XAlignment) {
	labels, err := plotter.NewLabels(plotter.XYLabels{XYs: plotter.XYs{{X: x, Y: y}}, Labels: []string{label}})
	if err != nil {
		panic(fmt.Sprintf("BUG: a label at %v, %v: %v", x, y, err))
	}
	labels.TextStyle[0] = letters(7, c)
	labels.TextStyle[0].XAlign = align
	labels.Offset.Y = vg.Points(1.5)
	p.Add(labels)
}

// reach makes room above the greatest value.
func reach(p *plot.Plot, greatest float64) { p.Y.Max = greatest * 1.15 }

// count formats a number in the usual short form: 1600, 20M, 1.05M.
func count(n int) string {
	v := float64(n)
	switch {
	case v >= 1e9:
		return digits(v/1e9) + "G"
	case v >= 1e6:
		return digits(v/1e6) + "M"
	case v >= 1e5:
		return digits(v/1e3) + "k"
	}
	return strconv.Itoa(n)
}

// duration formats microseconds.
func duration(us float64) string {
	switch {
	case us >= 1e6:
		return digits(us/1e6) + " s"
	case us >= 1e3:
		return digits(us/1e3) + " ms"
	}
	return digits(us) + " us"
}

// digits formats with three digits.
func digits(v float64) string {
	rounded, err := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 3, 64), 64)
	if err != nil {
		panic(fmt.Sprintf("BUG: %v", err))
	}
	return strconv.FormatFloat(rounded, 'f', -1, 64)
}
