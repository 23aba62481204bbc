package report

import (
	"bufio"
	"fmt"
	"html"
	"io"
	"strings"
	"unicode"

	"github.com/reprise-gpu/reprise/optimizer"
)

// laneColours are those of the page. A lane beyond them has the colour of an earlier one.
var laneColours = [...]string{"#4269d0", "#d98a00", "#2f9e6e", "#c2459b", "#7b52d3", "#0d8fb3", "#a9582f", "#6b7f1e", "#d2544a", "#6c7480"}

// svgStyle has both colour schemes. The strokes of hazards are those of the page.
const svgStyle = `text{font:12.5px system-ui,"Segoe UI",Roboto,"DejaVu Sans",sans-serif;fill:#1b1f27}.n rect{fill-opacity:.16}.n .b{fill-opacity:1}.e{fill:none;stroke:#77808f;stroke-width:1.3}.war{stroke:#b06a00;stroke-dasharray:6 4}.waw{stroke:#8a3ffc;stroke-dasharray:2 3}.after{stroke:#0b7a75;stroke-dasharray:9 3 2 3}.body{stroke-dasharray:1 4}.wait{stroke-width:2.6}marker path{fill:#77808f}@media(prefers-color-scheme:dark){text{fill:#e8eaef}.n rect{fill-opacity:.3}.e{stroke:#8b95a5}}`

// escaped returns text for XML, which has no control characters.
func escaped(text string) string {
	return html.EscapeString(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == '\ufffe' || r == '\uffff' {
			return unicode.ReplacementChar
		}
		return r
	}, text))
}

// margin is the space around a drawing.
const margin = 12

// Drawn is the graph of a plan with a place for each operation. Its form as JSON is what reprise draw --json writes.
type Drawn struct {
	Program    string      `json:"program"`
	Strategy   string      `json:"strategy"`
	Lanes      int         `json:"lanes"`
	Operations []Operation `json:"operations"`
	Lane       []int       `json:"lane"`  // by operation; -1 in a body, whose lanes are its own
	Edges      []Edge      `json:"edges"` // indexes of operations; Kept marks those that are drawn
	Open       Drawing     `json:"drawing"`

	data *Data
}

// Draw places the operations of a plan in layers.
func Draw(r *optimizer.Result) *Drawn {
	d := &Data{Program: r.Graph.Name}
	p := newProgram(d, r)
	d.draw()
	lane := slicesOf(len(d.Operation), -1)
	for v := range r.Schedule.Graph.Ops {
		lane[p.number[timelineNumber(v)]] = int(r.Schedule.Lane[v])
	}
	return &Drawn{d.Program, r.Schedule.Strategy, r.Schedule.Lanes, d.Operation, lane, d.Edges, d.Open, d}
}

// WriteSVG writes the drawing as SVG: operations in layers, in the colour of their lane; dependencies that no others imply, by
// hazard; those between lanes are thick. A title of each element has the details.
func (g *Drawn) WriteSVG(w io.Writer) error {
	d, lane := g.data, g.Lane
	out := bufio.NewWriter(w)
	width, height := d.Open.Width+2*margin, d.Open.Height+2*margin
	fmt.Fprintf(out, "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"%d %[1]d %.0f %.0f\" width=\"%[2]g\" height=\"%[3]g\" role=\"img\" aria-label=\"graph of %s, planned by %s\">\n",
		-margin, width, height, escaped(d.Program), escaped(g.Strategy))
	fmt.Fprintf(out, "<style>%s</style>\n<defs><marker id=\"a\" viewBox=\"0 0 8 6\" refX=\"8\" refY=\"3\" markerWidth=\"8\" markerHeight=\"6\" markerUnits=\"userSpaceOnUse\" orient=\"auto\"><path d=\"M0 0L8 3L0 6z\"/></marker></defs>\n", svgStyle)
	for i := range d.Edges {
		if d.Edges[i].Kept {
			d.svgEdge(out, i, lane)
		}
	}
	for v := range d.Operation {
		d.svgNode(out, v, lane[v])
	}
	fmt.Fprintln(out, "</svg>")
	return out.Flush()
}

func (d *Data) svgEdge(w io.Writer, i int, lane []int) {
	e := &d.Edges[i]
	class, _, _ := strings.Cut(e.Hazard, "|")
	if lane[e.From] != lane[e.To] && e.Hazard != "body" {
		class += " wait"
	}
	fmt.Fprintf(w, "<path class=\"e %s\" marker-end=\"url(#a)\" d=\"%s\"><title>%s</title></path>\n", class, d.curve(i),
		escaped(fmt.Sprintf("%s → %s: %s %s", d.Operation[e.From].Title, d.Operation[e.To].Title, e.Hazard, e.Range)))
}

// curve returns the path of an edge: through its bends, with vertical ends.
func (d *Data) curve(i int) string {
	e := &d.Edges[i]
	from, to := d.Open.At[e.From], d.Open.At[e.To]
	points := [][2]float64{{from[0], from[1] + nodeHeight/2}}
	if route := d.Open.Routes[i]; len(route) > 2 {
		points = append(points, route[1:len(route)-1]...)
	}
	points = append(points, [2]float64{to[0], to[1] - nodeHeight/2})
	var b strings.Builder
	fmt.Fprintf(&b, "M%g %g", points[0][0], points[0][1])
	for k := 1; k < len(points); k++ {
		p, q := points[k-1], points[k]
		bend := (q[1] - p[1]) / 2
		fmt.Fprintf(&b, "C%g %g %g %g %g %g", p[0], p[1]+bend, q[0], q[1]-bend, q[0], q[1])
	}
	return b.String()
}

func (d *Data) svgNode(w io.Writer, v, lane int) {
	o := &d.Operation[v]
	size, at := nodeSize(o.Title), d.Open.At[v]
	x, y := at[0]-size.W/2, at[1]-nodeHeight/2
	colour := laneColours[len(laneColours)-1]
	if lane >= 0 {
		colour = laneColours[lane%len(laneColours)]
	}
	fmt.Fprintf(w, "<g class=\"n\"><title>%s</title><rect x=\"%g\" y=\"%g\" width=\"%g\" height=\"%d\" rx=\"8\" fill=\"%s\" stroke=\"%[6]s\"/><rect class=\"b\" x=\"%[2]g\" y=\"%[3]g\" width=\"6\" height=\"%[5]d\" rx=\"3\" fill=\"%[6]s\"/><text x=\"%[7]g\" y=\"%[8]g\">%[9]s</text></g>\n",
		escaped(strings.TrimSpace(fmt.Sprintf("%s %s %s, lane %d", o.Number, o.Title, o.Source, lane))), x, y, size.W, nodeHeight, colour, x+16, at[1]+4.5, escaped(clip(o.Title)))
}

// clip shortens a title to what fits into a node.
func clip(title string) string {
	if r := []rune(title); len(r) > maxChars {
		return string(r[:maxChars-1]) + "…"
	}
	return title
}
