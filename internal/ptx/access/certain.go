package access

import (
	"slices"

	"github.com/reprise-gpu/reprise/internal/ptx"
)

// What Eval computes is an upper bound. This file finds accesses that are certain: those that follow, for one thread of
// a launch, from the launch's shape and parameters alone.

// Touch is an access that one thread of a launch makes, if the launch ends without a fault.
type Touch struct {
	Span          Span // from the pointer
	Access        Access
	Pos           ptx.Pos
	Block, Thread [3]uint32
}

// Bounds on the work of one call of Outside.
const (
	maxBoxes   = 128     // parts of a launch that are looked at
	maxThreads = 4       // threads that are followed
	maxBlocks  = 1 << 14 // basic blocks that one thread runs
)

// Outside returns an access through the pointer of a row of Effects.Params that some thread of launch l certainly makes and that
// is not within a span. It is false where no such access is found: there may be one all the same.
func (fp *Footprint) Outside(l *Launch, row int, within Span) (Touch, bool) {
	if fp.certain == nil {
		return Touch{}, false
	}
	part := *l
	walks := 0
	boxes := []launchBox{wholeBox(l)}
	for looks := 0; len(boxes) > 0 && looks < maxBoxes && walks < maxThreads && l.spend(); looks++ {
		box := boxes[len(boxes)-1]
		boxes = boxes[:len(boxes)-1]
		part.box = &box
		if !fp.leaves(&part, row, within) {
			continue
		}
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

// leaves reports whether a followed access of a part of a launch may leave a span.
func (fp *Footprint) leaves(l *Launch, row int, within Span) bool {
	fp.compute(l)
	for i := range fp.outs {
		o := &fp.outs[i]
		if int(o.row) != row || !o.certain {
			continue
		}
		if !within.Holds(fp.span(o)) {
			return true
		}
	}
	return false
}

// launchBox is a part of the threads of a launch: the block indices, then the thread indices.
type launchBox [6]interval

func wholeBox(l *Launch) (b launchBox) {
	for axis := range 3 {
		b[axis] = interval{0, int64(l.Grid[axis]) - 1}
		b[3+axis] = interval{0, int64(l.Block[axis]) - 1}
	}
	return b
}

// halves cuts a box across its longest side; false for a single thread.
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

func (b *launchBox) corner(first int) (at [3]uint32) {
	for axis := range 3 {
		at[axis] = uint32(b[first+axis].lo)
	}
	return at
}

// certain is what following one thread takes. Most kernels never need it, so it is completed when they do.
type certain struct {
	*rangeBuilder
	accesses map[int32][]certainAccess // by block, in the order of the code
	phis     map[int32][]*term         // by block
	next     []int32                   // by block: see postdominators
	regions  map[int32][]int32         // by block that branches: what may run before next
	calls    map[int32]int             // by block: its first call of code that is not known
	controls [][]int32                 // by block: the branches that decide whether it runs
	decided  map[any]bool              // by *term, runs or ways
}

// certainAccess is an access through one parameter alone.
type certainAccess struct {
	row         int
	step        int
	addr, guard *term
	lo, hi      int64
	access      Access
}

func newCertain(b *rangeBuilder) *certain {
	return &certain{rangeBuilder: b, accesses: map[int32][]certainAccess{}}
}

// certainly reports whether an instruction touches all of its bytes whenever it runs.
func certainly(in *ptx.Inst) bool {
	switch in.Name {
	case "ld", "ldu", "st", "atom", "red":
		return true
	}
	return false
}

// complete builds the predicates of all branches, so that all variables of loops that a thread needs are there.
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
		if v = v.is(); v.op == termPhi && !seen[v] {
			seen[v] = true
			c.phis[v.block] = append(c.phis[v.block], v)
		}
	}
}

func (c *certain) findCall(b int32) {
	for i := c.blocks[b].first; i < c.blocks[b].end; i++ {
		if s := &c.cfg.steps[i]; s.kind == stepPlain && s.in.Name == "call" {
			c.calls[b] = i
			return
		}
	}
}

// region are the blocks that may run between a branch and where all its ways meet.
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

// Decided reports whether the launch alone, without what is in memory, decides which bytes each thread touches in an access of
// Ranges, and whether it does.
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
			things := []any{a.addr.is(), runs(b)}
			if a.guard != nil {
				things = append(things, a.guard.is())
			}
			if found = true; !c.decides(things...) {
				return false
			}
		}
	}
	return found
}

// findControls finds control dependences (Ferrante, Ottenstein & Warren 1987).
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

// What a decision depends on: whether a block runs, and from where a thread comes to it. Values are of type *term.
type (
	runs int32
	ways int32
)

// decides reports whether the launch decides all of the given things. Whatever these depend on is final once it returns:
// what reaches something that the launch does not decide is not decided, and the rest is, around loops too.
func (c *certain) decides(things ...any) bool {
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

// isDecided is false for what an earlier call of decides found not to be decided.
func (c *certain) isDecided(at any) bool {
	ok, seen := c.decided[at]
	return ok || !seen
}

// visit returns those of the things that are new, and has them decided until the contrary is found.
func (c *certain) visit(things []any) (fresh []any) {
	for _, at := range things {
		if _, seen := c.decided[at]; !seen {
			c.decided[at] = true
			fresh = append(fresh, at)
		}
	}
	return fresh
}

// needs returns what the decision of a thing depends on; false where the launch does not decide it in any case.
func (c *certain) needs(at any) (list []any, ok bool) {
	switch at := at.(type) {
	case runs:
		return c.branches(c.controls[at])
	case ways:
		return c.into(int32(at))
	}
	v := at.(*term)
	for _, a := range v.args {
		list = append(list, a.is())
	}
	if v.op == termPhi { // which of its values it is depends on the way here
		list = append(list, ways(v.block))
	}
	return list, v.op != termUnknown && (v.op != termSpecial || v.imm < laneid)
}

// into returns what the way into a block depends on.
func (c *certain) into(b int32) (list []any, ok bool) {
	var several []int32
	for _, p := range c.blocks[b].preds {
		if list = append(list, runs(p)); len(c.blocks[p].succs) > 1 {
			several = append(several, p)
		}
	}
	predicates, ok := c.branches(several)
	return append(list, predicates...), ok
}

// branches returns what the directions of blocks that branch depend on; false where one goes by a table.
func (c *certain) branches(blocks []int32) (list []any, ok bool) {
	for _, b := range blocks {
		last := c.blocks[b].end - 1
		p := c.guard(last)
		if p == nil || c.cfg.steps[last].kind == stepTable {
			return nil, false
		}
		list = append(list, p.is(), runs(b))
	}
	return list, true
}
