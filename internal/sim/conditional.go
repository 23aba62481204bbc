package sim

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/device/model"
	"github.com/reprise-gpu/reprise/internal/contract"
	"github.com/reprise-gpu/reprise/internal/des"
)

// condition is a word of device memory. Its address is its handle.
type condition struct {
	on      *Device
	word    uint64
	initial uint32
	assign  bool   // reset to initial at each launch
	of      *graph // nil if it was created for InstantiateNodes
	users   int    // number of graphs and instances that use it
}

// choice is the decision of a conditional node. It is immutable in an instance: an update creates a new one.
type choice struct {
	kind      device.ConditionalKind
	condition *condition
	graphs    []*graph // bodies while the graph is under construction
	bodies    []*plan  // bodies in an instance
}

// A conditional node expands while it runs. Its task reads the condition, then adds the tasks of the selected body
// and, after them, a task that joins them. In a loop the joining task reads the condition again. The successors of
// the node are passed on to the last task.
//
//	           ┌─ body ─┐        ┌─ body ─┐
//	─► decide ─┤        ├► decide┤        ├► decide ─► what follows
//	           └────────┘        └────────┘
//	           iteration 1       iteration 2   the condition is 0

// visit is one run of a conditional node. In a loop it decides before each iteration.
type visit struct {
	job      *job
	at       place
	stream   *stream
	priority int32
	round    int64
	op       *operation // set if races are detected
}

// scope is one iteration of a body.
type scope struct {
	of     *visit
	body   int
	round  int64
	chains     // see order
	depth  int // number of enclosing scopes
}

func (s *scope) depthOf() int {
	if s == nil {
		return 0
	}
	return s.depth
}

// iteration names the iterations of the enclosing loops in reports.
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

// beginning is the work at the start of a launch: conditions get their initial values, and memory that the previous
// launch left allocated is freed.
type beginning struct {
	assign []*condition
	free   []*graphMemory
}

// beginningJob is the job that findings about a beginning refer to.
var beginningJob = &job{kind: nothing, label: "the beginning of a launch"}

// jobOf returns the job in the data of a task, or nil.
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

// decide reads the condition of a node and adds the tasks of the selected body.
func (d *Device) decide(id des.TaskID, v *visit) model.Demand {
	c := v.job.choice
	value := binary.LittleEndian.Uint32(d.wordOf(c.condition))
	if d.races != nil {
		if v.round == 0 {
			v.op = d.races.order.of(id)
		}
		d.races.span(v.op, reads, c.condition.word, conditionBytes, c.condition.word)
	}
	n := contract.SelectBody(c.kind, value, len(c.bodies))
	if n >= 0 {
		if v.round == d.loops {
			d.fault = &device.Error{Code: device.LaunchTimeout, Detail: fmt.Sprintf(
				"%s, %v: its condition is %d after %d iterations, the most that Options.LoopLimit grants a loop; does its body set it to 0?", v.job.name(), v.at, value, v.round)}
			return model.Demand{}
		}
		d.unfold(id, v, n)
	}
	return model.Demand{Kind: des.Condition}
}

const conditionBytes = 4

func (d *Device) wordOf(c *condition) []byte {
	b, err := d.memory.Bytes(c.word, conditionBytes)
	if err != nil {
		panic("BUG: a condition that is in use has been freed: " + err.Error())
	}
	return b
}

// unfold adds the tasks of a body after the decision that selected it.
func (d *Device) unfold(id des.TaskID, v *visit, n int) {
	d.engine.Retire() // bounds the memory of long loops
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

// begin performs the work at the start of a launch.
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

// newCondition creates a condition without users.
func (d *Device) newCondition(initial uint32, assign bool) (*condition, *device.Error) {
	if d.sample > 0 {
		return nil, &device.Error{Code: device.NotSupported, Detail: "a sampled device does not compute the values of conditions: open it without Sample"}
	}
	d.conditionNames++
	word, err := d.memory.AllocCondition(fmt.Sprintf("condition %d", d.conditionNames))
	if err != nil {
		return nil, &device.Error{Code: device.OutOfMemory, Detail: "memory of a condition", Err: err}
	}
	d.memory.Initialise(word, conditionBytes)
	c := &condition{on: d, word: word, initial: initial, assign: assign}
	if d.conditions == nil {
		d.conditions = map[device.Condition]*condition{}
	}
	d.conditions[device.Condition(word)] = c
	return c, nil
}

// condition resolves a handle.
func (d *Device) condition(h device.Condition) (*condition, *device.Error) {
	c := d.conditions[h]
	if c == nil {
		return nil, &device.Error{Code: device.InvalidHandle, Detail: fmt.Sprintf("condition %#x does not exist", uint64(h))}
	}
	return c, nil
}

// keep and leave count the graphs and instances that use conditions. Launches in progress may still set a condition
// without users. Its word is therefore freed only after the host has waited for all work.
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

// sweep frees the words of conditions that have no users and that no work can set.
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

// conditions appends the conditions that the nodes of a plan read, without duplicates.
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
