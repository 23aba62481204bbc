package why

import (
	"fmt"
	"strings"

	"github.com/reprise-gpu/reprise/internal/opname"
	"github.com/reprise-gpu/reprise/internal/schedules"
	"github.com/reprise-gpu/reprise/ir"
	"github.com/reprise-gpu/reprise/optimizer"
)

// Plan is a plan that can be explained.
type Plan struct {
	opts   optimizer.Options
	result *optimizer.Result
	scopes []*scope // the program, then the bodies of its loops and branches
}

// scope is the program, or a body of a loop or a branch.
type scope struct {
	schedule *ir.Schedule
	all      *ir.Graph // with dependencies that others imply, except those that the analysis left out; of a body, without all of them
	reduced  *ir.Graph // without
	names    *opname.Names
	path     string      // of names in the body; "" for the program
	numbers  string      // of numbers in the body
	preds    [][]ir.OpID // by operation: its waits, and the operation before it on its lane
	place    []int       // by operation: its index on its lane
	lanes    [][]ir.OpID // by lane: its operations in order
}

// New plans a program for explanations. The optional passes of opts must leave the operations as they are.
func New(g *ir.Graph, opts optimizer.Options) (*Plan, error) {
	opts.Bound = true
	r, err := optimizer.Plan(g, opts)
	if err != nil {
		return nil, err
	}
	p := &Plan{opts: opts, result: r}
	p.add(&scope{schedule: r.Schedule, all: r.Analyzed, reduced: r.Reduced})
	return p, nil
}

// add adds a scope with its schedule, its graphs and its paths, and the scopes of its bodies.
func (p *Plan) add(c *scope) {
	s := c.schedule
	c.names, c.preds = opname.Of(s.Graph), schedules.Predecessors(s)
	c.lanes, c.place = make([][]ir.OpID, s.Lanes), make([]int, s.Graph.Len())
	for _, v := range s.Order {
		lane := &c.lanes[s.Lane[v]]
		c.place[v] = len(*lane)
		*lane = append(*lane, v)
	}
	p.scopes = append(p.scopes, c)
	for v := range s.Graph.Ops {
		for i, body := range s.Bodies[ir.OpID(v)] {
			id := ir.OpID(v)
			p.add(&scope{
				schedule: body, all: body.Graph, reduced: body.Graph,
				path: opname.Path(c.name(id), i), numbers: opname.Path(c.numbers+id.String(), i),
			})
		}
	}
}

// name returns the name of an operation with the path of its body.
func (c *scope) name(v ir.OpID) string { return c.path + c.names.Of(v) }

// before returns the operations that the plan runs directly before v: its waits, and the operation before it on its lane.
func (c *scope) before(v ir.OpID) []ir.OpID { return c.preds[v] }

// listed returns the names of operations.
func (c *scope) listed(all []ir.OpID) []string {
	names := make([]string, len(all))
	for i, v := range all {
		names[i] = c.name(v)
	}
	return names
}

// Ref names an operation.
type Ref struct {
	Name   string `json:"name"`             // "sobel#1", with the path of its body
	Number string `json:"number"`           // "%3", or "%1/%0" in a body
	Source string `json:"source,omitempty"` // "main.go:41"
}

// String returns "sobel#1 at main.go:41".
func (r Ref) String() string {
	if r.Source == "" {
		return r.Name
	}
	return r.Name + " at " + r.Source
}

func (c *scope) ref(v ir.OpID) Ref {
	return Ref{c.name(v), c.numbers + v.String(), c.schedule.Graph.Ops[v].Pos.String()}
}

// find returns the operation of a label, a name or a number.
func (p *Plan) find(text string) (*scope, ir.OpID, error) {
	at, err := opname.Find(p.result.Schedule.Graph, text)
	if err != nil {
		return nil, 0, err
	}
	for _, c := range p.scopes {
		if int(at.Op) < c.schedule.Graph.Len() && c.name(at.Op) == at.Name {
			return c, at.Op, nil
		}
	}
	return nil, 0, fmt.Errorf("BUG: the plan has no operation %s", at.Name)
}

// Schedule returns the plan.
func (p *Plan) Schedule() *ir.Schedule { return p.result.Schedule }

// Rule returns what the strategy of the plan does, in one line.
func (p *Plan) Rule() string {
	name, _, _ := strings.Cut(p.result.Schedule.Strategy, "(")
	for _, d := range optimizer.Strategies() {
		if d.Name == name {
			return d.Doc
		}
	}
	return ""
}
