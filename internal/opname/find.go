package opname

import (
	"fmt"
	"strings"

	"github.com/reprise-gpu/reprise/internal/phrase"
	"github.com/reprise-gpu/reprise/ir"
)

// Place is an operation of a graph or of one of its bodies.
type Place struct {
	Graph *ir.Graph // the graph or the body
	Op    ir.OpID   // its number there
	Name  string    // with the path of the body: "solve/axpy#2", "choose/else/axpy"
}

// All returns all operations of g and of its bodies.
func All(g *ir.Graph) (all []Place) { return places(g, "") }

func places(g *ir.Graph, path string) (all []Place) {
	n := Of(g)
	for v := range g.Ops {
		at := Place{g, ir.OpID(v), path + n.Of(ir.OpID(v))}
		all = append(all, at)
		if c := g.Ops[v].Control; c != nil {
			for i, body := range c.Bodies {
				all = append(all, places(body, Path(at.Name, i))...)
			}
		}
	}
	return all
}

// Path returns the prefix of names in body i of a loop or a branch: "solve/", or "solve/else/" in the second body of a
// branch.
func Path(outer string, i int) string {
	if i == 0 {
		return outer + "/"
	}
	return outer + "/else/"
}

// Find returns the operation that text names: by its name or number, with the path of its body, or else by a label or a
// kernel that no other operation has.
func Find(g *ir.Graph, text string) (Place, error) {
	exact, like := match(g, text, "", "")
	if len(exact) == 0 {
		exact = like
	}
	switch len(exact) {
	case 1:
		return exact[0], nil
	case 0:
		return Place{}, fmt.Errorf("no operation %s in %s%s", text, g.Name, didYouMean(g, text))
	}
	return Place{}, fmt.Errorf("%d operations are called %s: use the name of one of %s", len(exact), text, listed(exact))
}

// match returns the operations that text names exactly, and those whose label or kernel it is. names and numbers are the
// paths of the body g.
func match(g *ir.Graph, text, names, numbers string) (exact, like []Place) {
	n := Of(g)
	for i := range g.Ops {
		v := ir.OpID(i)
		at := Place{g, v, names + n.Of(v)}
		switch {
		case strings.HasPrefix(text, names) && n.Is(v, text[len(names):]), strings.HasPrefix(text, numbers) && n.Is(v, text[len(numbers):]):
			exact = append(exact, at)
		case n.Like(v, text):
			like = append(like, at)
		}
		if g.Ops[i].Control == nil {
			continue
		}
		for k, body := range g.Ops[i].Control.Bodies {
			e, l := match(body, text, Path(at.Name, k), Path(numbers+origin(g, v).String(), k))
			exact, like = append(exact, e...), append(like, l...)
		}
	}
	return exact, like
}

// maxListed is the largest number of names in an error.
const maxListed = 8

func listed(all []Place) string {
	var names []string
	for _, at := range all[:min(len(all), maxListed)] {
		names = append(names, at.Name)
	}
	if more := len(all) - maxListed; more > 0 {
		names = append(names, fmt.Sprintf("%d more", more))
	}
	return strings.Join(names, ", ")
}

// didYouMean returns a hint at the most similar name, or at names in general.
func didYouMean(g *ir.Graph, text string) string {
	all := All(g)
	var names []string
	for _, at := range all {
		names = append(names, at.Name)
	}
	if near := phrase.Nearest(text, names); near != "" {
		return fmt.Sprintf(" (did you mean %s?)", near)
	}
	return ": it has " + listed(all)
}
