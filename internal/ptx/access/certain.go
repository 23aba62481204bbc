package access

import (
	"slices"

	"github.com/reprise-gpu/reprise/internal/ptx"
)

// Touch is an access that one thread of a launch makes if the launch ends without a
// fault.
//
// Eval computes an upper bound of the accesses. This file finds the opposite, accesses
// that are certain: some thread of the launch makes them, for all contents of memory.
// They prove that a kernel leaves a slice.
type Touch struct {
	Span          Span // bytes relative to the pointer
	Access        Access
	Pos           ptx.Pos
	Block, Thread [3]uint32
}

// Bounds on the work of one call of Outside.
const (
	maxBoxes   = 128     // parts of a launch that are evaluated
	maxThreads = 4       // threads that are executed
	maxBlocks  = 1 << 14 // basic blocks that one thread executes
)

// Outside returns an access through the pointer of a row of Effects.Params that some
// thread of launch l certainly makes and that is not inside span within. It returns false
// if it finds none, which does not exclude that there is one.
//
// The search is a branch and bound over the threads of the launch. The interval program
// evaluates a box of threads. A box whose interval stays inside the span is dropped, any
// other is cut in half. A box of one thread is executed by walk, which decides:
//
//	┌───────────────┐     ┌───────┬───────┐     ┌───────┬───┬───┐
//	│  all threads  │ ──► │inside:│  may  │ ──► │       │   │may│ ──► … ──► one thread: walk
//	│  may leave    │     │dropped│ leave │     │       │   │   │
//	└───────────────┘     └───────┴───────┘     └───────┴───┴───┘
//
// At most maxBoxes boxes are evaluated and maxThreads threads executed, so the cost does
// not depend on the size of the launch.
func (fp *Footprint) Outside(l *Launch, row int, within Span) (Touch, bool) {
	if fp.certain == nil {
		return Touch{}, false
	}
	part := *l
	walks := 0
	boxes := []launchBox{wholeBox(l)}
	for visits := 0; len(boxes) > 0 && visits < maxBoxes && walks < maxThreads && l.spend(); visits++ {
		box := boxes[len(boxes)-1]
		boxes = boxes[:len(boxes)-1]
		part.box = &box
		if !fp.leaves(&part, row, within) {
			continue
		}
		// More than one thread: search both halves.
		if low, high, ok := box.halves(); ok {
			boxes = append(boxes, low, high)
			continue
		}
		walks++
		if t, ok := fp.certain.walk(&part, row, fp.pointers[row], within); ok {
			return t, true
		}
	}
	return Touch{}, false
}

// leaves reports whether the interval of some access of l, a part of a launch,
// exceeds the span. Only accesses that walk can verify count.
func (fp *Footprint) leaves(l *Launch, row int, within Span) bool {
	fp.compute(l)
	for i := range fp.outs {
		o := &fp.outs[i]
		if int(o.row) != row || !o.certain {
			continue
		}
		// A part of the launch may leave the span here.
		if !within.Holds(fp.span(o)) {
			return true
		}
	}
	return false
}

// launchBox is a box of threads of a launch: intervals of block indices (x, y,
// z), then of thread indices.
type launchBox [6]interval

// wholeBox returns the box of all threads of a launch or of its part, see Within.
func wholeBox(l *Launch) (b launchBox) {
	if l.box != nil {
		return *l.box
	}
	for axis := range 3 {
		b[axis] = interval{0, int64(l.Grid[axis]) - 1}
		b[3+axis] = interval{0, int64(l.Block[axis]) - 1}
	}
	return b
}

// halves cuts a box across its longest side. It returns false for a single
// thread.
func (b launchBox) halves() (low, high launchBox, ok bool) {
	longest := 0
	for i := range b {
		if b[i].hi-b[i].lo > b[longest].hi-b[longest].lo {
			longest = i
		}
	}
	side := b[longest]
	mid := side.lo + (side.hi-side.lo)/2
	low, high = b, b
	low[longest].hi, high[longest].lo = mid, mid+1
	return low, high, side.lo < side.hi
}

// corner returns the lowest indices of three axes of a box, from the given one
// on.
func (b *launchBox) corner(first int) (at [3]uint32) {
	for axis := range 3 {
		at[axis] = uint32(b[first+axis].lo)
	}
	return at
}

// certain is the state that walk and Decided need. newCertain leaves most of it empty:
// complete builds it on first use, since most kernels never need it.
type certain struct {
	*rangeBuilder
	accesses map[int32][]certainAccess // by block, in program order
	phis     map[int32][]*term         // by block: the variables that its entry assigns; nil before complete
	next     []int32                   // by block: its immediate postdominator, see postdominators
	regions  map[int32][]int32         // by block that branches: see region
	calls    map[int32]int             // by block: the step of its first call of code that was not inlined
	controls [][]int32                 // by block: the branches that it is control dependent on
	decided  map[any]bool              // by *term, runs or arrives; see allDecided
}

// certainAccess is an access whose address is one parameter plus a number.
type certainAccess struct {
	row         int   // of Effects.Params
	step        int   // of the flat program
	addr, guard *term // guard is nil for an access without one
	lo, hi      int64 // bytes relative to addr
	access      Access
}

// newCertain returns a state without accesses.
func newCertain(b *rangeBuilder) *certain {
	return &certain{rangeBuilder: b, accesses: map[int32][]certainAccess{}}
}

// touchesAllBytes reports whether an instruction, when it is executed, touches all of
// its bytes.
func touchesAllBytes(in *ptx.Inst) bool {
	switch in.Name {
	case "ld", "ldu", "st", "atom", "red":
		return true
	}
	return false
}

// complete builds the predicates of all branches, and with them the phis of all
// loops that a thread needs.
func (c *certain) complete() {
	if c.phis != nil {
		return
	}
	c.phis, c.regions, c.calls = map[int32][]*term{}, map[int32][]int32{}, map[int32]int{}
	c.next = c.postdominators()
	for b := range c.blocks {
		if blk := &c.blocks[b]; blk.order >= 0 && blk.end > blk.first {
			c.guard(blk.end - 1)
			c.findCall(int32(b))
		}
	}
	for _, list := range c.accesses {
		slices.SortStableFunc(list, func(a, b certainAccess) int { return a.step - b.step })
	}
	seen := map[*term]bool{}
	for _, v := range c.atTop {
		if v = v.resolved(); v.op == termPhi && !seen[v] {
			seen[v] = true
			c.phis[v.block] = append(c.phis[v.block], v)
		}
	}
}

// findCall records the first call in block b.
func (c *certain) findCall(b int32) {
	for i := c.blocks[b].first; i < c.blocks[b].end; i++ {
		if s := &c.cfg.steps[i]; s.kind == stepPlain && s.in.Name == "call" {
			c.calls[b] = i
			return
		}
	}
}

// region returns the blocks that may be executed between the branch at the end of b and
// the block where all its paths join again, its immediate postdominator, that block
// included. It is a depth-first search that stops at the join.
func (c *certain) region(b int32) []int32 {
	if list, ok := c.regions[b]; ok {
		return list
	}
	join := c.next[b]
	seen := map[int32]bool{join: true}
	list := []int32{join}
	for todo := []int32{b}; len(todo) > 0; {
		at := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for _, s := range c.blocks[at].succs {
			if !seen[s] {
				seen[s] = true
				list, todo = append(list, s), append(todo, s)
			}
		}
	}
	c.regions[b] = list
	return list
}

// Decided reports whether the bytes that each thread touches in access r of
// Ranges depend on the launch alone, and not on the contents of memory. The
// execution of the access is included: a guard that was loaded makes it
// undecided.
func (fp *Footprint) Decided(r *Range) bool {
	c := fp.certain
	if c == nil || r.Why != nil {
		return false
	}
	c.complete()
	if len(c.calls) > 0 {
		return false
	}
	if c.controls == nil {
		c.findControls()
		c.decided = map[any]bool{}
	}
	found := false
	for b, list := range c.accesses {
		for i := range list {
			a := &list[i]
			if p := &fp.Effects.Params[a.row]; c.cfg.steps[a.step].in.Pos != r.Pos || p.Param != r.Param || p.Field != r.Field {
				continue
			}
			things := []any{a.addr.resolved(), runs(b)}
			if a.guard != nil {
				things = append(things, a.guard.resolved())
			}
			if found = true; !c.allDecided(things...) {
				return false
			}
		}
	}
	return found
}

// findControls computes control dependences (Ferrante, Ottenstein & Warren, "The Program
// Dependence Graph and Its Use in Optimization", 1987). Block s depends on branch b if s
// postdominates a successor of b but not b itself. These are the blocks on the path in
// the postdominator tree from the successor up to, but without, the immediate
// postdominator of b:
//
//	    b                 c.controls[s1] = [b]
//	  /   \               c.controls[s2] = [b]
//	s1     s2
//	  \   /
//	   join               does not depend on b
func (c *certain) findControls() {
	c.controls = make([][]int32, len(c.blocks))
	for b := range int32(len(c.blocks)) {
		if exits := c.exits(b); c.blocks[b].order < 0 || len(exits) < 2 {
			continue
		}
		for _, s := range c.blocks[b].succs {
			for ; s >= 0 && s != c.next[b]; s = c.next[s] {
				c.controls[s] = append(c.controls[s], b)
			}
		}
	}
}

// Decided considers three kinds of things: values (of type *term), whether a block is
// executed, and the edge over which a thread enters a block.
type (
	runs    int32
	arrives int32
)

// allDecided reports whether the launch decides all of the given things.
//
// It computes a greatest fixpoint. Every thing that is reached is assumed decided at first,
// so that a loop variable may depend on itself. Things that depend on memory are then
// marked undecided, and the mark spreads to their users:
//
//	for (i = tid; i < n; i += 256) a[i] = …    address a + 4·i ─► i ─► tid, 256, n: decided
//	for (i = tid; i < m[0]; i += 256) …        runs(body) ─► i < m[0] ─► a load: undecided
//
// All of the results are final, since everything that they depend on was visited. The cost
// is linear in the dependences visited.
func (c *certain) allDecided(things ...any) bool {
	users := map[any][]any{}
	var open []any
	todo := c.visit(things)
	for len(todo) > 0 {
		at := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		needs, ok := c.needs(at)
		for _, n := range needs {
			users[n] = append(users[n], at)
			ok = ok && c.isDecided(n)
		}
		if todo = append(todo, c.visit(needs)...); !ok {
			open = append(open, at)
		}
	}
	for len(open) > 0 {
		at := open[len(open)-1]
		if open = open[:len(open)-1]; c.decided[at] {
			c.decided[at] = false
			open = append(open, users[at]...)
		}
	}
	for _, at := range things {
		if !c.decided[at] {
			return false
		}
	}
	return true
}

// isDecided returns false if an earlier call of allDecided found the thing
// undecided.
func (c *certain) isDecided(at any) bool {
	ok, seen := c.decided[at]
	return ok || !seen
}

// visit returns those of the things that are new, and marks them as decided for
// the time being.
func (c *certain) visit(things []any) (fresh []any) {
	for _, at := range things {
		if _, seen := c.decided[at]; !seen {
			c.decided[at] = true
			fresh = append(fresh, at)
		}
	}
	return fresh
}

// needs returns the things on which the decision of a thing depends. It returns false if
// the thing is undecided in any case.
func (c *certain) needs(at any) (list []any, ok bool) {
	switch at := at.(type) {
	case runs:
		return c.branchNeeds(c.controls[at])
	case arrives:
		return c.entryNeeds(int32(at))
	}
	v := at.(*term)
	for _, a := range v.args {
		list = append(list, a.resolved())
	}
	if v.op == termPhi { // the edge taken selects the argument
		list = append(list, arrives(v.block))
	}
	return list, v.op != termUnknown && (v.op != termSpecial || v.imm < laneid)
}

// entryNeeds returns the things on which the choice of the edge into block b depends.
func (c *certain) entryNeeds(b int32) (list []any, ok bool) {
	var several []int32
	for _, p := range c.blocks[b].preds {
		if list = append(list, runs(p)); len(c.blocks[p].succs) > 1 {
			several = append(several, p)
		}
	}
	predicates, ok := c.branchNeeds(several)
	return append(list, predicates...), ok
}

// branchNeeds returns the things on which the directions of the given blocks' branches depend.
// It returns false if one branches by a table.
func (c *certain) branchNeeds(blocks []int32) (list []any, ok bool) {
	for _, b := range blocks {
		last := c.blocks[b].end - 1
		p := c.guard(last)
		if p == nil || c.cfg.steps[last].kind == stepTable {
			return nil, false
		}
		list = append(list, p.resolved(), runs(b))
	}
	return list, true
}
