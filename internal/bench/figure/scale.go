package figure

import (
	"fmt"
	"image/color"
	"math"
	"path/filepath"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"

	"github.com/reprise-gpu/reprise/internal/bench/scale"
)

// WriteScale draws the speedup of each workload over the number of devices into a directory, which it creates if
// necessary: solid lines for the plan, dashed ones for the model of a dynamic scheduler. It returns the paths,
// scaling.svg and .png.
func WriteScale(dir string, records []scale.Record) (paths []string, err error) {
	if err := Folder(dir); err != nil {
		return nil, err
	}
	f := scaling(records)
	for _, format := range []string{"svg", "png"} {
		path := filepath.Join(dir, "scaling."+format)
		if err := f.write(path, format); err != nil {
			return paths, err
		}
		paths = append(paths, path)
	}
	return paths, nil
}

// curve is the rows of one workload, in the order of devices.
type curve struct {
	name string
	rows []scale.Record
}

func curvesOf(records []scale.Record) (list []curve) {
	for _, r := range records {
		name := r.Workload + ":" + r.Size
		if n := len(list); n == 0 || list[n-1].name != name {
			list = append(list, curve{name: name})
		}
		last := &list[len(list)-1]
		last.rows = append(last.rows, r)
	}
	return list
}

// points returns the speedup over one device, on logarithmic axes of base 2, of the times that us selects. Devices that
// the first row has are taken as efficient.
func (c *curve) points(us func(*scale.Record) float64) (points plotter.XYs) {
	first := &c.rows[0]
	for i := range c.rows {
		r := &c.rows[i]
		speedup := first.StepUS * float64(first.Devices) / us(r)
		points = append(points, plotter.XY{X: math.Log2(float64(r.Devices)), Y: math.Log2(speedup)})
	}
	return points
}

func scaling(records []scale.Record) *figure {
	f := &figure{
		title: "Speedup over one device", about: records[0].Machine + ", simulated; dashed: model of a dynamic scheduler; gray: ideal",
		width: 16 * vg.Centimeter, height: 10 * vg.Centimeter,
	}
	p := newPanel("", "speedup", nil)
	p.X.Label.Text, p.X.Label.TextStyle.Font = "devices", p.Y.Label.TextStyle.Font
	p.X.Tick.Marker, p.Y.Tick.Marker = plot.TickerFunc(powers), plot.TickerFunc(powers)
	p.X.Tick.Length = vg.Points(2)
	right, top := 0.0, 1.0
	for i, c := range curvesOf(records) {
		shade := palette[i%(len(palette)-1)]
		f.legend = append(f.legend, entry{name: c.name, color: shade})
		plan := c.points(func(r *scale.Record) float64 { return r.StepUS })
		dynamic := c.points(func(r *scale.Record) float64 { return r.DynamicUS })
		for _, at := range plan {
			right, top = max(right, at.X), max(top, at.Y)
		}
		speedLine(p, plan, shade)
		speedLine(p, dynamic, shade, vg.Points(3), vg.Points(2))
	}
	speedLine(p, plotter.XYs{{X: 0, Y: 0}, {X: right, Y: right}}, gray)
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = 0, right*1.02, min(p.Y.Min, 0), max(top, right)*1.02
	f.panels = [][]*plot.Plot{{p}}
	return f
}

// speedLine adds a line to a panel.
func speedLine(p *plot.Plot, points plotter.XYs, shade color.Color, dashes ...vg.Length) {
	line, err := plotter.NewLine(points)
	if err != nil {
		panic(fmt.Sprintf("BUG: %v", err))
	}
	line.Color, line.Width, line.Dashes = shade, vg.Points(1.2), dashes
	p.Add(line)
}

// powers returns ticks at the whole powers of two between two logarithms.
func powers(least, most float64) (list []plot.Tick) {
	for x := math.Ceil(least); x <= most; x++ {
		list = append(list, plot.Tick{Value: x, Label: fmt.Sprintf("%g", math.Exp2(x))})
	}
	return list
}
