package rewrite

import (
	"slices"

	"github.com/reprise-gpu/reprise/internal/ptx"
)

// waits returns the opcode of a load by which a block waits for other blocks, or "". A block
// waits if a loop ends or goes on depending on a load that observes what other blocks store
// while they run:
//
//	LOOP: ld.volatile.global.u32 %r1, [%rd1];      a volatile, relaxed, acquire, .cg or .cv load,
//	      setp.ne.u32 %p1, %r1, 0;                 or an atomic that changes nothing
//	      @%p1 bra LOOP;
//
// Loops around an atomic that changes memory are not waits: they repeat a failed exchange, or
// acquire a lock whose owner is running.
func (u *unit) waits() string {
	polls := map[*ptx.Func]string{} // functions that poll, directly or through calls
	for changed := true; changed; {
		changed = false
		for _, f := range u.bodies() {
			for i := range f.Body {
				if polls[f] != "" {
					break
				}
				if op := u.polls(&f.Body[i], polls); op != "" {
					polls[f], changed = op, true
				}
			}
		}
	}
	for _, f := range u.bodies() {
		if polls[f] == "" {
			continue
		}
		w := newWaitSearch(u, f, polls)
		all := make([]int, len(f.Body))
		for i := range all {
			all[i] = i
		}
		if op := w.search(all); op != "" {
			return op
		}
	}
	return ""
}

// polls returns the opcode of an instruction that observes other blocks, or "". For a call it
// is that of an instruction in the function.
func (u *unit) polls(in *ptx.Inst, functions map[*ptx.Func]string) string {
	if in.Name == "call" {
		return functions[u.callee(in)]
	}
	global := true
	for _, s := range in.Suffix {
		if space, ok := ptx.ParseSpace(s); ok {
			global = space == ptx.Global
		}
	}
	if !global {
		return ""
	}
	has := func(words ...string) bool {
		return slices.ContainsFunc(in.Suffix, func(s string) bool { return slices.Contains(words, s) })
	}
	if in.Name == "ld" && has("volatile", "relaxed", "acquire", "mmio", "cg", "cv") || in.Name == "atom" && changesNothing(in) {
		return in.Opcode()
	}
	return ""
}

// changesNothing reports whether an atomic stores the value that it has read: it adds 0, or
// compares with the constant that it stores.
func changesNothing(in *ptx.Inst) bool {
	constant := func(n int, v int64) bool {
		return n < len(in.Args) && in.Args[n].Kind == ptx.OpInt && in.Args[n].Imm == v
	}
	for _, s := range in.Suffix {
		switch s {
		case "add", "or", "xor":
			return constant(2, 0)
		case "and":
			return constant(2, -1)
		case "cas":
			return len(in.Args) > 3 && in.Args[2].Kind == ptx.OpInt && constant(3, in.Args[2].Imm)
		}
	}
	return false
}

// waitSearch finds loops of a function that wait. It decomposes the control flow graph of the
// instructions as Bourdoncle does ("Efficient chaotic iteration strategies with widenings",
// 1993): strongly connected components, and again in each component without its entries, which
// finds the nested loops.
type waitSearch struct {
	u     *unit
	f     *ptx.Func
	polls map[*ptx.Func]string
	next  [][]int
}

// newWaitSearch builds the control flow graph. Node len(f.Body) is the end.
func newWaitSearch(u *unit, f *ptx.Func, polls map[*ptx.Func]string) *waitSearch {
	w := &waitSearch{u: u, f: f, polls: polls, next: make([][]int, len(f.Body)+1)}
	for i := range f.Body {
		w.next[i] = successors(f, i)
	}
	return w
}

// successors returns the instructions that may follow instruction i; len(f.Body) is the end.
func successors(f *ptx.Func, i int) (list []int) {
	in := &f.Body[i]
	falls := in.Guard.Reg != ptx.NoReg
	switch in.Name {
	case "bra", "brx":
		eachNested(in.Args, func(op *ptx.Operand) {
			if op.Kind == ptx.OpLabel {
				list = append(list, f.Labels[op.Name])
			}
		})
	case "ret", "exit", "trap":
		list = append(list, len(f.Body))
	default:
		falls = true
	}
	if falls {
		list = append(list, i+1)
	}
	return list
}

// search returns the opcode of a poll that a loop within the nodes depends on, or "".
func (w *waitSearch) search(nodes []int) string {
	inside := w.set(nodes)
	for _, loop := range w.components(nodes, inside) {
		members := w.set(loop)
		if op := w.loopPoll(loop, members); op != "" {
			return op
		}
		entries := w.entries(loop, members)
		if inner := slices.DeleteFunc(slices.Clone(loop), func(n int) bool { return entries[n] }); len(inner) > 0 {
			if op := w.search(inner); op != "" {
				return op
			}
		}
	}
	return ""
}

// set returns the nodes as a set.
func (w *waitSearch) set(nodes []int) []bool {
	s := make([]bool, len(w.next))
	for _, n := range nodes {
		s[n] = true
	}
	return s
}

// entries returns the nodes of a loop that control reaches from outside it, and its first node
// if there are none.
func (w *waitSearch) entries(loop []int, members []bool) map[int]bool {
	entries := map[int]bool{}
	for n, list := range w.next {
		if members[n] {
			continue
		}
		for _, to := range list {
			if members[to] {
				entries[to] = true
			}
		}
	}
	if len(entries) == 0 {
		entries[slices.Min(loop)] = true
	}
	return entries
}

// loopPoll returns the opcode of a poll in a loop on which a branch out of the loop depends, or
// "". The registers that depend on a poll are a fixed point over the loop's instructions.
func (w *waitSearch) loopPoll(loop []int, members []bool) (poll string) {
	tainted := make([]bool, len(w.f.Regs))
	for _, n := range loop {
		if op := w.u.polls(&w.f.Body[n], w.polls); op != "" {
			poll = op
			taint(&w.f.Body[n], tainted)
		}
	}
	if poll == "" {
		return ""
	}
	for changed := true; changed; {
		changed = false
		for _, n := range loop {
			if in := &w.f.Body[n]; reads(in, tainted) {
				changed = taint(in, tainted) || changed
			}
		}
	}
	for _, n := range loop {
		leaves := slices.ContainsFunc(w.next[n], func(to int) bool { return !members[to] })
		if leaves && len(w.next[n]) > 1 && reads(&w.f.Body[n], tainted) {
			return poll
		}
	}
	return ""
}

// taint marks the registers that an instruction may define, and reports whether one was not
// marked.
func taint(in *ptx.Inst, tainted []bool) (changed bool) {
	eachDefined(in, func(id ptx.RegID) {
		changed = changed || !tainted[id]
		tainted[id] = true
	})
	return changed
}

// reads reports whether an instruction reads a marked register, as operand or guard. The first
// operand counts unless the instruction defines it.
func reads(in *ptx.Inst, marked []bool) (found bool) {
	check := func(id ptx.RegID) { found = found || id != ptx.NoReg && marked[id] }
	check(in.Guard.Reg)
	args := in.Args
	if len(args) > 0 && definesFirst(in) {
		args = args[1:]
	}
	eachNested(args, func(op *ptx.Operand) {
		check(op.Reg)
		check(op.Reg2)
	})
	return found
}

// components returns the strongly connected components with a cycle in the graph of the nodes
// inside. Tarjan's algorithm, with a stack of its own: a function has up to 100,000 nodes.
func (w *waitSearch) components(nodes []int, inside []bool) (list [][]int) {
	type frame struct{ node, edge int }
	number, low := make([]int, len(w.next)), make([]int, len(w.next))
	onStack := make([]bool, len(w.next))
	var stack []int
	count := 0
	open := func(n int) frame {
		count++
		number[n], low[n], onStack[n] = count, count, true
		stack = append(stack, n)
		return frame{n, 0}
	}
	for _, start := range nodes {
		if number[start] > 0 {
			continue
		}
		for path := []frame{open(start)}; len(path) > 0; {
			at := &path[len(path)-1]
			n := at.node
			if at.edge < len(w.next[n]) {
				to := w.next[n][at.edge]
				at.edge++
				switch {
				case !inside[to]:
				case number[to] == 0:
					path = append(path, open(to))
				case onStack[to]:
					low[n] = min(low[n], number[to])
				}
				continue
			}
			path = path[:len(path)-1]
			if len(path) > 0 {
				up := path[len(path)-1].node
				low[up] = min(low[up], low[n])
			}
			if low[n] == number[n] {
				at := slices.Index(stack, n)
				part := slices.Clone(stack[at:])
				stack = stack[:at]
				for _, m := range part {
					onStack[m] = false
				}
				if len(part) > 1 || slices.Contains(w.next[n], n) {
					list = append(list, part)
				}
			}
		}
	}
	return list
}
