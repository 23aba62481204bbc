package why

import (
	"github.com/reprise-gpu/reprise/internal/timeline"
	"github.com/reprise-gpu/reprise/ir"
)

// Operation is why an operation is where the plan has it.
type Operation struct {
	Ref
	Kind    string   `json:"kind"`
	Kernel  string   `json:"kernel,omitempty"`
	Grid    string   `json:"grid,omitempty"`
	Block   string   `json:"block,omitempty"`
	Reads   []string `json:"reads,omitempty"`
	Writes  []string `json:"writes,omitempty"`
	Time    *Time    `json:"time,omitempty"` // nil for a loop or a branch
	Lane    int      `json:"lane"`
	Before  *Beside  `json:"before,omitempty"` // on the lane; nil if it is the first
	Behind  *Beside  `json:"behind,omitempty"` // on the lane; nil if it is the last
	Needs   []Need   `json:"needs"`            // dependencies that no others imply
	Needed  []Need   `json:"needed"`           // such dependencies of others on it
	Implied int      `json:"implied"`          // dependencies on others that are implied
	Waits   []Wait   `json:"waits"`            // on other lanes
}

// Beside is a neighbour of an operation on its lane.
type Beside struct {
	Ref
	Depends string `json:"depends"` // kind of the edge between the two: Direct, Implied, Ordered or None
}

// Need is a dependency between the operation and another one.
type Need struct {
	Ref
	Cause
	By string `json:"by"` // how the plan orders the two
}

// Operation explains the operation of a label, a name or a number.
func (p *Plan) Operation(text string) (*Operation, error) {
	c, v, err := p.find(text)
	if err != nil {
		return nil, err
	}
	g := c.schedule.Graph
	op := &g.Ops[v]
	o := &Operation{
		Ref: c.ref(v), Kind: op.Kind.String(), Lane: int(c.schedule.Lane[v]), Time: p.time(g, v),
		Needs: []Need{}, Needed: []Need{}, Waits: []Wait{},
	}
	if l := op.Launch; l != nil {
		o.Kernel, o.Grid, o.Block = l.Entry, l.Grid.String(), l.Block.String()
	}
	o.Reads, o.Writes = timeline.Accesses(g, v)
	c.neighbours(o, v)
	c.needs(o, v)
	for _, u := range c.schedule.Waits[v] {
		o.Waits = append(o.Waits, c.wait(u, v))
	}
	return o, nil
}

// neighbours sets the operations beside v on its lane.
func (c *scope) neighbours(o *Operation, v ir.OpID) {
	lane, i := c.lanes[c.schedule.Lane[v]], c.place[v]
	if i > 0 {
		o.Before = &Beside{c.ref(lane[i-1]), c.depends(lane[i-1], v)}
	}
	if i+1 < len(lane) {
		o.Behind = &Beside{c.ref(lane[i+1]), c.depends(v, lane[i+1])}
	}
}

// depends returns the kind of the edge between two operations.
func (c *scope) depends(u, v ir.OpID) string {
	if _, direct := find(c.reduced, u, v); direct {
		return Direct
	}
	if path(c.reduced.Len(), depsInto(c.reduced), u, v) == nil {
		return None
	}
	if _, ok := find(c.all, u, v); ok {
		return Implied
	}
	return Ordered
}

// needs sets the dependencies of v, and those of others on it.
func (c *scope) needs(o *Operation, v ir.OpID) {
	for _, d := range c.reduced.DepsInto(v) {
		o.Needs = append(o.Needs, c.need(d, d.From))
	}
	o.Implied = len(c.all.DepsInto(v)) - len(c.reduced.DepsInto(v))
	for _, w := range c.reduced.Succs(v) {
		d, _ := find(c.reduced, v, w)
		o.Needed = append(o.Needed, c.need(d, w))
	}
}

func (c *scope) need(d ir.Dep, other ir.OpID) Need {
	var e Edge
	c.order(&e, d.From, d.To)
	return Need{c.ref(other), CauseOf(c.reduced, d), e.By}
}
