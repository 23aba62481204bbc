package report

import (
	"math"
	"unicode/utf8"

	"github.com/reprise-gpu/reprise/internal/layered"
)

// Sizes of nodes, in CSS pixels. The page has the same.
const (
	nodeHeight = 36
	charWidth  = 7.5
	maxChars   = 26
)

// nodeSize returns the extent of a node with a title.
func nodeSize(title string) layered.Size {
	n := min(maxChars, max(6, utf8.RuneCountInString(title)))
	return layered.Size{W: math.Ceil(30 + charWidth*float64(n)), H: nodeHeight}
}

// draw places the operations, and for a program with groups that are closed at first also the groups.
func (d *Data) draw() {
	sizes, edges := make([]layered.Size, len(d.Operation)), [][2]int{}
	for v := range d.Operation {
		sizes[v] = nodeSize(d.Operation[v].Title)
	}
	var index []int
	for i, e := range d.Edges {
		if e.Kept {
			edges = append(edges, [2]int{e.From, e.To})
			index = append(index, i)
		}
	}
	d.Open = *drawingOf(layered.Place(sizes, edges), index)
	if len(d.Operation) > alwaysOpen {
		d.drawClosed()
	}
}

// drawClosed places groups and the operations outside of groups, in program order.
func (d *Data) drawClosed() {
	node := make([]int, len(d.Operation)) // by operation: its node
	of := slicesOf(len(d.Groups), -1)
	var sizes []layered.Size
	var shown []int // by node: an operation, or len(Operation) plus a group
	for v := range d.Operation {
		g := d.Operation[v].Group
		if g >= 0 && of[g] >= 0 {
			node[v] = of[g]
			continue
		}
		node[v] = len(sizes)
		title := d.Operation[v].Title
		shown = append(shown, v)
		if g >= 0 {
			of[g] = len(sizes)
			title = d.Groups[g].Title + " (0000)"
			shown[len(shown)-1] = len(d.Operation) + g
		}
		sizes = append(sizes, nodeSize(title))
	}
	var edges [][2]int
	seen := map[[2]int]bool{}
	for _, e := range d.Edges {
		pair := [2]int{node[e.From], node[e.To]}
		if e.Kept && pair[0] < pair[1] && !seen[pair] {
			seen[pair] = true
			edges = append(edges, pair)
		}
	}
	l := layered.Place(sizes, edges)
	closed := &Drawing{At: make([][2]float64, len(d.Operation)+len(d.Groups)), Width: round(l.Size.W), Height: round(l.Size.H)}
	for i, v := range shown {
		closed.At[v] = [2]float64{round(l.At[i].X), round(l.At[i].Y)}
	}
	d.Closed = closed
}

// drawingOf returns a layout with the routes of edges that bend, by the given numbers.
func drawingOf(l *layered.Layout, index []int) *Drawing {
	d := &Drawing{Width: round(l.Size.W), Height: round(l.Size.H), At: points(l.At), Routes: map[int][][2]float64{}}
	for i, route := range l.Routes {
		if len(route) > 2 {
			d.Routes[index[i]] = points(route)
		}
	}
	return d
}

func slicesOf(n, v int) []int {
	s := make([]int, n)
	for i := range s {
		s[i] = v
	}
	return s
}

func round(v float64) float64 { return math.Round(v) }
