package figure

import (
	"fmt"
	"path/filepath"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/reprise-gpu/reprise/internal/bench/strategies"
)

// WriteStrategies draws the predicted time over the lower bound of each strategy, with a panel per graph, into a
// directory, which it creates if necessary. It returns the paths, strategies.svg and .png.
func WriteStrategies(dir string, all []*strategies.Comparison) (paths []string, err error) {
	if err := Folder(dir); err != nil {
		return nil, err
	}
	f := predicted(all)
	for _, format := range []string{"svg", "png"} {
		path := filepath.Join(dir, "strategies."+format)
		if err := f.write(path, format); err != nil {
			return paths, err
		}
		paths = append(paths, path)
	}
	return paths, nil
}

func predicted(all []*strategies.Comparison) *figure {
	f := &figure{
		title: "Predicted time of a replay over its lower bound, by strategy",
		about: fmt.Sprintf("%s, predicted; above the bars waits between lanes", all[0].Device),
		width: vg.Length(2+1.9*float64(max(4, len(all[0].Rows)))) * vg.Centimeter,
	}
	const across = 2
	for i, c := range all {
		if i%across == 0 {
			f.panels = append(f.panels, make([]*plot.Plot, min(across, len(all))))
		}
		f.panels[i/across][i%across] = strategyPanel(c)
	}
	return f
}

func strategyPanel(c *strategies.Comparison) *plot.Plot {
	names := make([]string, len(c.Rows))
	for i, r := range c.Rows {
		names[i] = r.Strategy
	}
	p := newPanel(fmt.Sprintf("%s, %d operations", c.Graph, c.Ops), "times the bound", names)
	var g grouping
	greatest := 1.0
	for i, r := range c.Rows {
		left := float64(i) - 0.4
		greatest = max(greatest, r.OverBound)
		g.bar(p, left, 0.8, r.OverBound, entry{name: r.Strategy, color: palette[0]})
		if r.Error == "" {
			note(p, float64(i), r.OverBound, gray, fmt.Sprint(r.Waits), draw.XCenter)
		}
	}
	level(p, 1, gray, true, "")
	reach(p, greatest)
	return p
}
