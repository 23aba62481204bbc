package sim

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/device/model"
	"github.com/reprise-gpu/reprise/internal/des"
)

// condition is a word of device memory, whose address is its handle.
type condition struct {
	on      *Device
	word    uint64
	initial uint32
	assign  bool   // at each launch
	of      *graph // nil when it was made for graphs that are given whole
	users   int    // graphs and instances that keep it
}

// choice is what a conditional node decides. Nothing in it changes once it is in an
// instance: an update makes another.
type choice struct {
	kind      device.ConditionalKind
	condition *condition
	graphs    []*graph // its bodies while the graph is under construction
	bodies    []*plan  // of an instance
}

// A conditional node unfolds while it runs. Its task reads the condition, adds the
// tasks of the body that this selects and, behind them, a task that joins them; in a
// loop that one reads the condition again. What waits for the node is handed on to it.
//
//	           ┌─ body ─┐        ┌─ body ─┐
//	─► decide ─┤        ├► decide┤        ├► decide ─► what follows
//	           └────────┘        └────────┘
//	   round 1             round 2             the condition is 0

// visit is one run of a conditional node, with a decision for each round of a loop.
type visit struct {
	job      *job
	at       place
	stream   *stream
	priority int32
	round    int64
	op       *operation // when races are looked for
}

// scope is one round of a body.
type scope struct {
	of     *visit
	body   int
	round  int64
	chains     // see order
	depth  int // how many scopes it lies in
}

func (s *scope) depthOf() int {
	if s == nil {
		return 0
	}
	return s.depth
}

// iteration tells rounds of a loop apart.
func (s *scope) iteration() string {
	if s == nil || s.of.job.choice.kind != device.While {
		return ""
	}
	return fmt.Sprintf(" [%d]", s.round)
}

// nested is a job in a body.
type nested struct {
	*job
	in *scope
}

// beginning is what happens when a launch begins: conditions get their initial values,
// and what the last launch has left allocated is freed.
type beginning struct {
	assign []*condition
	free   []*graphMemory
}

// beginningJob is the job that findings about a beginning name.
var beginningJob = &job{kind: nothing, label: "the beginning of a launch"}

// jobOf is the job behind the data of a task, nil when there is none.
func jobOf(data any) *job {
	switch v := data.(type) {
	case *job:
		return v
	case *nested:
		return v.job
	case *visit:
		return v.job
	case *beginning:
		return beginningJob
	}
	return nil
}

const defaultLoopLimit = 1 << 24

// decide reads the condition of a node and enters what it selects.
func (d *Device) decide(id des.TaskID, v *visit) model.Demand {
	c := v.job.choice
	value := binary.LittleEndian.Uint32(d.wordOf(c.condition))
	if d.races != nil {
		if v.round == 0 {
			v.op = d.races.order.of(id)
		}
		d.races.span(v.op, reads, c.condition.word, conditionBytes, c.condition.word)
	}
	n := c.kind.Select(value, len(c.bodies))
	if n >= 0 {
		if v.round == d.loops {
			d.fault = &device.Error{Code: device.LaunchTimeout, Detail: fmt.Sprintf(
				"%s, %v: its condition is %d after %d iterations, the most that Options.LoopLimit grants a loop; does its body set it to 0?", v.job.name(), v.at, value, v.round)}
			return model.Demand{}
		}
		d.unfold(id, v, n)
	}
	return model.Demand{Kind: model.Condition}
}

const conditionBytes = 4

func (d *Device) wordOf(c *condition) []byte {
	b, err := d.memory.Bytes(c.word, conditionBytes)
	if err != nil {
		panic("BUG: a condition that is in use has been freed: " + err.Error())
	}
	return b
}

// unfold enters the tasks of a body behind the decision that selected it.
func (d *Device) unfold(id des.TaskID, v *visit, n int) {
	d.engine.Retire() // a loop must not pile up what it has done
	c, body := v.job.choice, v.job.choice.bodies[n]
	v.round++
	in := &scope{of: v, body: n, round: v.round, depth: 1 + v.at.in.depthOf()}
	behind := d.engine.Detach(id)
	now := d.engine.Now()
	first := d.addNodes(body, id, &setting{stream: v.stream, exec: v.at.exec, in: in, priority: v.priority,
		arrival: now, rootGap: d.profile.GraphBodyGap, rootWhy: des.GraphBody})
	t := des.Task{Arrival: now, Priority: v.priority, Deps: after(append(d.deps[:0], id), first, body.leaves)}
	if c.kind == device.While {
		t.Data, t.Gap, t.Why = v, d.profile.GraphEdgeGap, des.GraphEdge
	}
	d.deps = t.Deps
	d.engine.Attach(d.engine.Add(t), behind)
}

// begin does what a launch begins with.
func (d *Device) begin(id des.TaskID, b *beginning) {
	for _, m := range b.free {
		m.on.claims(id, m)
		m.on.freeInGraph(m)
	}
	for _, c := range b.assign {
		binary.LittleEndian.PutUint32(c.on.wordOf(c), c.initial)
		c.on.changed(c.word)
		if c.on.races != nil {
			c.on.races.span(c.on.races.order.of(id), writes, c.word, conditionBytes, c.word)
		}
	}
}

// newCondition makes a condition that nobody uses yet.
func (d *Device) newCondition(initial uint32, assign bool) (*condition, *device.Error) {
	if d.sample > 0 {
		return nil, &device.Error{Code: device.NotSupported, Detail: "a sampled device computes no values that a condition could be"}
	}
	d.conditionNames++
	word, err := d.memory.AllocCondition(fmt.Sprintf("condition %d", d.conditionNames))
	if err != nil {
		return nil, &device.Error{Code: device.OutOfMemory, Detail: "a condition", Err: err}
	}
	d.memory.Initialise(word, conditionBytes)
	c := &condition{on: d, word: word, initial: initial, assign: assign}
	if d.conditions == nil {
		d.conditions = map[device.Condition]*condition{}
	}
	d.conditions[device.Condition(word)] = c
	return c, nil
}

// condition is what a handle stands for.
func (d *Device) condition(h device.Condition) (*condition, *device.Error) {
	c := d.conditions[h]
	if c == nil {
		return nil, &device.Error{Code: device.InvalidHandle, Detail: fmt.Sprintf("condition %#x does not exist", uint64(h))}
	}
	return c, nil
}

// keep and leave count the graphs and instances that use conditions. Launches that
// are under way may still set one that nobody uses any more, so its word stays until
// the host has waited for all.
func keep(list []*condition) {
	for _, c := range list {
		c.users++
	}
}

func leave(list []*condition) {
	for _, c := range list {
		if c.users--; c.users == 0 {
			c.on.unused = append(c.on.unused, c)
			delete(c.on.conditions, device.Condition(c.word))
		}
	}
}

// sweep frees the words of conditions that nothing uses and that no work can set.
func (d *Device) sweep() {
	for _, c := range d.unused {
		if err := d.memory.Free(c.word); err != nil {
			panic("BUG: a condition was freed before: " + err.Error())
		}
		d.memo.forget(c.word)
		d.races.freed(c.word)
		d.l2.Forget(c.word)
	}
	d.unused = d.unused[:0]
}

// conditions are those that the nodes of a plan read, each once.
func (p *plan) conditions(list []*condition) []*condition {
	for i := range p.nodes {
		if j := p.nodes[i].job; j != nil && j.choice != nil && !slices.Contains(list, j.choice.condition) {
			list = append(list, j.choice.condition)
		}
		for _, body := range p.nodes[i].bodies() {
			list = body.conditions(list)
		}
	}
	return list
}
