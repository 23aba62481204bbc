package figure

import (
	"fmt"
	"math"
	"path/filepath"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
)

// Residuals holds the residual histories of iterative methods.
type Residuals struct {
	Title, About string
	Curves       []Curve
}

// Curve holds the relative residual of a method at the start and after each iteration.
type Curve struct {
	Name   string
	Values []float64
}

// WriteResiduals draws residuals over iterations on a logarithmic scale into a directory, which it creates if
// necessary. It returns the paths, residual.svg and .png.
func WriteResiduals(dir string, r Residuals) (paths []string, err error) {
	if err := Folder(dir); err != nil {
		return nil, err
	}
	f := r.figure()
	for _, format := range []string{"svg", "png"} {
		path := filepath.Join(dir, "residual."+format)
		if err := f.write(path, format); err != nil {
			return paths, err
		}
		paths = append(paths, path)
	}
	return paths, nil
}

func (r *Residuals) figure() *figure {
	f := &figure{title: r.Title, about: r.About, width: 16 * vg.Centimeter}
	p := newPanel("", "relative residual", nil)
	p.X.Label.Text = "iteration"
	p.X.Label.TextStyle.Font = p.Y.Label.TextStyle.Font
	p.X.Tick.Marker, p.X.Min, p.X.Max = plot.TickerFunc(ticks), 0, 1
	least, greatest := 1.0, 1.0
	for i, c := range r.Curves {
		e := entry{name: c.Name, color: palette[i%len(palette)], dashed: i >= len(palette)}
		f.legend = append(f.legend, e)
		points := drawable(c.Values)
		for _, at := range points {
			least, greatest = min(least, at.Y), max(greatest, at.Y)
			p.X.Max = max(p.X.Max, at.X)
		}
		if len(points) == 0 {
			continue
		}
		line, err := plotter.NewLine(points)
		if err != nil {
			panic(fmt.Sprintf("BUG: %v", err))
		}
		line.Color, line.Width = e.color, vg.Points(1.2)
		if e.dashed {
			line.Dashes = dashes
		}
		p.Add(line)
	}
	lo, hi := math.Floor(math.Log10(least)), math.Ceil(math.Log10(greatest))
	p.Y.Min, p.Y.Max = math.Pow(10, min(lo, -1)), math.Pow(10, max(hi, 0))
	p.Y.Scale = plot.LogScale{}
	p.Y.Tick.Marker = plot.TickerFunc(decades)
	f.panels = [][]*plot.Plot{{p}}
	return f
}

// drawable drops values that a logarithmic scale cannot show: zeros and NaNs.
func drawable(values []float64) (points plotter.XYs) {
	for i, v := range values {
		if v > 0 && !math.IsInf(v, 0) {
			points = append(points, plotter.XY{X: float64(i), Y: v})
		}
	}
	return points
}

// decades returns at most ten powers of ten at equal distances.
func decades(from, to float64) (list []plot.Tick) {
	lo, hi := int(math.Round(math.Log10(from))), int(math.Round(math.Log10(to)))
	step := (hi-lo)/10 + 1
	for e := hi; e >= lo; e -= step {
		list = append(list, plot.Tick{Value: math.Pow(10, float64(e)), Label: fmt.Sprintf("1e%d", e)})
	}
	return list
}
