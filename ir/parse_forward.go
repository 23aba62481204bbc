package ir

import (
	"fmt"
	"slices"
)

// forwardRef is an after edge from an operation that is not listed above.
type forwardRef struct {
	from, to OpID
	pos      int // offset of the reference in the text
}

// resolveForward reports the forward references. If after edges form a cycle, it reports the cycle, since no
// order of the lines is right. Otherwise each forward reference is a mistake by itself.
func (p *parser) resolveForward() {
	for _, f := range p.forward {
		if int(f.from) >= len(p.g.Ops) {
			p.report(f.pos, "there is no operation %v: the graph has %d", f.from, len(p.g.Ops))
		}
	}
	if len(p.errs) > 0 || len(p.forward) == 0 {
		return
	}
	if cycle := findCycle(p.g.Ops); cycle != nil {
		p.reportCycle(cycle)
		return
	}
	for _, f := range p.forward {
		p.report(f.pos, "%v waits for %v, which is listed below it: list operations after those they wait for", f.to, f.from)
	}
}

// report adds a mistake without marking the current statement as failed.
func (p *parser) report(pos int, format string, args ...any) {
	if len(p.errs) < maxErrors {
		p.fail(pos, format, args...)
	}
	p.failed = false
}

// reportCycle reports a cycle at one of its forward references. Every cycle has one, since ids cannot ascend
// along all of its edges.
func (p *parser) reportCycle(cycle []OpID) {
	text := cycleText(cycle)
	i := slices.IndexFunc(p.forward, func(f forwardRef) bool {
		at := slices.Index(cycle, f.from)
		return at >= 0 && cycle[(at+1)%len(cycle)] == f.to
	})
	if i < 0 {
		panic("BUG: a cycle without a forward reference")
	}
	if len(cycle) == 1 {
		p.report(p.forward[i].pos, "cycle %s: the operation waits for itself", text)
		return
	}
	p.report(p.forward[i].pos, "cycle %s: each operation waits for the one before it", text)
}

// cycleText returns the text of a cycle, a long one without its middle.
func cycleText(cycle []OpID) string {
	const shown = 12
	text := ""
	for i, v := range cycle {
		if hidden := len(cycle) - shown; hidden > 1 && i >= shown-2 && i < len(cycle)-2 {
			if i == shown-2 {
				text += fmt.Sprintf("(%d more) -> ", hidden)
			}
			continue
		}
		text += v.String() + " -> "
	}
	return text + cycle[0].String()
}

// findCycle returns a cycle of the after edges, in their direction and from its smallest id on, or nil.
//
// It is a depth-first search against the edges in O(V+E). An edge to an operation whose visit is open, which
// is one on the stack, closes a cycle. The stack is explicit, since a path can be as long as the graph.
func findCycle(ops []Op) []OpID {
	const unseen, open, done = 0, 1, 2
	state := make([]uint8, len(ops))
	next := make([]int32, len(ops))
	var stack []OpID
	for root := range ops {
		if state[root] != unseen {
			continue
		}
		stack = append(stack[:0], OpID(root))
		state[root] = open
		for len(stack) > 0 {
			v := stack[len(stack)-1]
			if int(next[v]) == len(ops[v].After) {
				state[v] = done
				stack = stack[:len(stack)-1]
				continue
			}
			u := ops[v].After[next[v]]
			next[v]++
			switch state[u] {
			case unseen:
				state[u] = open
				stack = append(stack, u)
			case open:
				return cycleFrom(stack[slices.Index(stack, u):])
			}
		}
	}
	return nil
}

// cycleFrom turns a path against the edges into a cycle along them.
func cycleFrom(path []OpID) []OpID {
	cycle := slices.Clone(path)
	slices.Reverse(cycle)
	least := slices.Index(cycle, slices.Min(cycle))
	return slices.Concat(cycle[least:], cycle[:least])
}
