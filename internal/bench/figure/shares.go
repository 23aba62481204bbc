package figure

import (
	"fmt"
	"image/color"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"

	"github.com/reprise-gpu/reprise/internal/bench/shares"
)

// policyColors has a colour for each kind of policy.
var policyColors = map[string]color.Color{
	"exclusive": gray, "fifo": sky, "timeslice": orange, "priority": purple, "fikit": green, "orion": red, "tally": color.Gray{160},
	"greedy": color.Black, "fill": blue, "mean": color.Gray{96}, "flag": color.Gray{200},
}

// policyColor returns the colour of a policy by its name, whose parameter is behind a colon.
func policyColor(name string) color.Color {
	kind, _, _ := strings.Cut(name, ":")
	return policyColors[kind]
}

// WriteShares draws figures of the first pair of the records into a directory, which it creates if necessary, and returns
// their paths: latencies.svg and .png, the distribution of latencies under each policy, and timeline.svg and .png, the
// stages of the important program in a few requests, and what the other runs.
func WriteShares(dir string, records []shares.Record) (paths []string, err error) {
	if err := Folder(dir); err != nil {
		return nil, err
	}
	first := slices.DeleteFunc(slices.Clone(records), func(r shares.Record) bool { return r.High != records[0].High || r.Low != records[0].Low })
	for _, f := range []struct {
		name string
		*figure
	}{{"latencies", latencies(first)}, {"timeline", timeline(first)}} {
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

// latencies draws the share of requests by latency, on a logarithmic scale if they differ much.
func latencies(records []shares.Record) *figure {
	f := &figure{title: fmt.Sprintf("Latency of %s beside %s", records[0].High, records[0].Low), about: records[0].Device, width: 16 * vg.Centimeter, height: 9 * vg.Centimeter}
	p := newPanel("", "share of requests", nil)
	p.X.Label.Text, p.X.Label.TextStyle.Font = "ms", p.Y.Label.TextStyle.Font
	least, most := time.Duration(1<<62), time.Duration(1)
	for _, r := range records {
		var at plotter.XYs
		for i, d := range r.Latencies {
			least, most = min(least, d), max(most, d)
			at = append(at, plotter.XY{X: max(d.Seconds()*1000, 1e-6), Y: float64(i+1) / float64(len(r.Latencies))})
		}
		if line, err := plotter.NewLine(at); err == nil {
			line.Color, line.Width = policyColor(r.Policy), vg.Points(1.2)
			p.Add(line)
			f.legend = append(f.legend, entry{name: r.Policy, color: policyColor(r.Policy)})
		}
	}
	p.X.Min, p.X.Max = max(least.Seconds()*1000, 1e-6)*0.95, max(most.Seconds()*1000, 2e-6)*1.05
	p.X.Tick.Marker, p.X.Tick.Length = plot.TickerFunc(ticks), vg.Points(2)
	if p.X.Max > 20*p.X.Min {
		p.X.Scale, p.X.Tick.Marker = plot.LogScale{}, plot.LogTicks{Prec: 3}
	}
	reach(p, 1)
	f.panels = [][]*plot.Plot{{p}}
	return f
}

// timelineStages is the number of stages of the important program that the timeline shows.
const timelineStages = 8

// timeline draws a panel for each policy: the stages of the important program above the grants of the other.
func timeline(records []shares.Record) *figure {
	f := &figure{title: fmt.Sprintf("First stages of %s beside %s", records[0].High, records[0].Low), about: records[0].Device, width: 20 * vg.Centimeter, height: 2.2 * vg.Centimeter}
	f.legend = []entry{{name: "high", color: blue}, {name: "low, on the device", color: orange}}
	to := 0.0
	for _, r := range records {
		if n := min(timelineStages, len(r.HighSpans)); n > 0 && r.Policy != "exclusive" {
			to = max(to, (r.HighSpans[n-1].To-r.HighSpans[0].From).Seconds()*1000)
		}
	}
	for _, r := range records {
		if len(r.HighSpans) == 0 {
			continue
		}
		p := newPanel(r.Policy, "", nil)
		p.X.Tick.Marker, p.X.Tick.Length = plot.TickerFunc(ticks), vg.Points(2)
		p.Y.Tick.Marker = plot.ConstantTicks{}
		start := r.HighSpans[0].From
		spans(p, r.HighSpans, start, to, 1.1, blue)
		spans(p, r.LowSpans, start, to, 0, orange)
		p.X.Min, p.X.Max, p.Y.Max = 0, max(to, 1e-3), 2.2
		f.panels = append(f.panels, []*plot.Plot{p})
	}
	last := f.panels[len(f.panels)-1][0]
	last.X.Label.Text, last.X.Label.TextStyle.Font = "ms", last.Y.Label.TextStyle.Font
	return f
}

// spans draws spans as boxes of height 1 above a level, up to a time in ms.
func spans(p *plot.Plot, all []shares.Span, start time.Duration, to, level float64, c color.Color) {
	for _, s := range all {
		from, end := max(0, (s.From-start).Seconds()*1000), min(to, (s.To-start).Seconds()*1000)
		if end <= from {
			continue
		}
		box, err := plotter.NewPolygon(plotter.XYs{{X: from, Y: level}, {X: end, Y: level}, {X: end, Y: level + 1}, {X: from, Y: level + 1}})
		if err == nil {
			box.Color, box.LineStyle.Width = c, vg.Points(0.3)
			p.Add(box)
		}
	}
}
