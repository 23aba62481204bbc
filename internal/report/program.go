package report

import (
	"fmt"

	"github.com/reprise-gpu/reprise/internal/opname"
	"github.com/reprise-gpu/reprise/internal/timeline"
	"github.com/reprise-gpu/reprise/internal/why"
	"github.com/reprise-gpu/reprise/ir"
	"github.com/reprise-gpu/reprise/optimizer"
)

// program collects the operations and the dependencies of a plan's graph.
type program struct {
	data   *Data
	number map[string]int // by Operation.Number
}

// maxEdges bounds the dependencies of a report. Beyond, those that others imply are left out.
const maxEdges = 20000

func newProgram(d *Data, r *optimizer.Result) *program {
	p := &program{data: d, number: map[string]int{}}
	p.operations(r.Schedule, r.Reduced, "")
	p.edges(r)
	return p
}

// operations adds the operations of a graph, and those of its bodies after each.
func (p *program) operations(s *ir.Schedule, g *ir.Graph, path string) {
	at, names := make([]int, g.Len()), opname.Of(g)
	for v := range g.Ops {
		id := ir.OpID(v)
		at[v] = p.operation(g, id, names.Of(id), path)
		for n := range s.Bodies[id] {
			body := s.Bodies[id][n]
			inner := fmt.Sprintf("%s%v/", path, id)
			if n == 1 {
				inner += "else/"
			}
			first := len(p.data.Operation)
			p.operations(body, body.Graph, inner)
			p.body(at[v], first, body.Graph, inner)
		}
	}
}

func (p *program) operation(g *ir.Graph, v ir.OpID, name, path string) int {
	op := &g.Ops[v]
	o := Operation{Title: name, Number: path + v.String(), Kind: op.Kind.String(), Source: op.Pos.String(), Group: -1}
	if l := op.Launch; l != nil {
		o.Kernel, o.Grid, o.Block = l.Entry, l.Grid.String(), l.Block.String()
	}
	o.Reads, o.Writes = timeline.Accesses(g, v)
	p.number[o.Number] = len(p.data.Operation)
	p.data.Operation = append(p.data.Operation, o)
	return len(p.data.Operation) - 1
}

// body connects a loop or a branch to the operations of a body without predecessors there, and adds the body's dependencies.
func (p *program) body(control, first int, g *ir.Graph, path string) {
	for v := range g.Ops {
		to := p.number[path+ir.OpID(v).String()]
		deps := g.DepsInto(ir.OpID(v))
		if len(deps) == 0 {
			p.data.Edges = append(p.data.Edges, Edge{From: control, To: to, Hazard: "body", Kept: true})
		}
		for _, d := range deps {
			p.edge(g, d, p.number[path+d.From.String()], to, true)
		}
	}
	members := []int{}
	for v := first; v < len(p.data.Operation); v++ {
		members = append(members, v)
	}
	p.data.Groups = append(p.data.Groups, Group{Title: p.data.Operation[control].Title, Ops: members})
}

func (p *program) edge(g *ir.Graph, d ir.Dep, from, to int, kept bool) {
	c := why.CauseOf(g, d)
	p.data.Edges = append(p.data.Edges, Edge{From: from, To: to, Hazard: c.Hazard, Range: c.Range, Bytes: c.Bytes, Kept: kept})
}

// edges adds the dependencies of the whole program.
func (p *program) edges(r *optimizer.Result) {
	all, kept := r.Analyzed, why.Kept(r)
	if len(all.Deps()) > maxEdges {
		p.data.Omitted = len(all.Deps()) - len(r.Reduced.Deps())
		all = r.Reduced
	}
	for _, d := range all.Deps() {
		p.edge(all, d, p.number[d.From.String()], p.number[d.To.String()], kept(d.From, d.To))
	}
}
