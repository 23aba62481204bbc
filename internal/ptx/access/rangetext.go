package access

import (
	"fmt"
	"slices"
	"strings"

	"github.com/reprise-gpu/reprise/internal/ptx"
)

// Range describes one access of a kernel for people.
type Range struct {
	Param  int     `json:"param"`
	Field  int     `json:"field,omitempty"`
	Pos    ptx.Pos `json:"pos"`
	Access Access  `json:"access"`
	// Text is an expression for the bytes, such as
	//
	//	x[4*(ctaid.x*ntid.x+tid.x) .. +4) for ctaid.x*ntid.x+tid.x < n
	//
	// It is empty if neither end is bounded; Why then explains the cause. If only one end
	// is bounded, both are set.
	Text string `json:"text,omitempty"`
	// Strides are the distances of its parts in bytes, as expressions such as 4*pitch. A
	// launch accesses no bytes between the parts. It is empty if there are none, or if they
	// are not known.
	Strides []string `json:"strides,omitempty"`
	// Why explains why an end of the range is not bounded. It is nil if both are.
	Why *Reason `json:"why,omitempty"`
}

// Bounds on the text of one access.
const (
	maxText     = 300  // bytes of a text; longer ones are cut
	maxTextWork = 3000 // nodes visited for one text: shared nodes are written at each use
)

// describe sets Text and Why of an access. The pointer itself is removed from
// the sum, so that the expression is relative to it.
func (b *rangeBuilder) describe(r *Range, o spanOut) {
	k := b.known[o.addr]
	if !k.both() {
		r.Why = b.blame(o.addr, map[nodeID]bool{})
		if r.Why == nil {
			r.Why = &Reason{b.m.File, r.Pos, "the address is computed by operations that are not analysed"}
		}
	}
	if !k.lo && !k.hi {
		return
	}
	name := b.name(r.Param)
	if r.Field != 0 {
		name += fmt.Sprintf(".%d", r.Field)
	}
	t := &rangeText{rangeBuilder: b, counters: map[nodeID]string{}}
	sum := t.terms(o.addr, 1, nil)
	// The pointer itself is not part of the expression.
	sum = slices.DeleteFunc(sum, func(s summand) bool {
		n := &b.nodes[s.id]
		return n.op == nodeParam && s.coef == 1 && int(n.param.param) == r.Param && int(n.param.off) == r.Field
	})
	if o.lo != 0 || len(sum) == 0 {
		sum = append(sum, summand{b.constant(o.lo), 1})
	}
	text := fmt.Sprintf("%s[%s .. +%d)", name, t.sum(sum), o.hi-o.lo)
	if len(t.conditions) > 0 {
		text += " for " + strings.Join(t.conditions, ", ")
	}
	if len(text) > maxText {
		text = strings.ToValidUTF8(text[:maxText], "") + " …"
	}
	r.Text = text
	if k.both() {
		r.Strides = t.strides(o)
	}
}

// name returns a parameter's name without the prefix "kernel_" of compilers.
func (b *rangeBuilder) name(param int) string {
	return strings.TrimPrefix(b.kernel.Params[param].Name, b.kernel.Name+"_")
}

// blame returns the reason of the first unknown node below id that keeps an end
// of it unknown.
func (b *rangeBuilder) blame(id nodeID, seen map[nodeID]bool) *Reason {
	n := &b.nodes[id]
	if b.known[id].both() || seen[id] {
		return nil
	}
	seen[id] = true
	if n.op == nodeUnknown {
		return b.reasons[n.imm]
	}
	if int(n.op) >= len(arity) {
		return nil
	}
	for _, a := range n.args[:arity[n.op]] {
		if why := b.blame(a, seen); why != nil {
			return why
		}
	}
	return nil
}

// rangeText writes nodes as expressions.
type rangeText struct {
	*rangeBuilder
	conditions []string
	counters   map[nodeID]string // by node of a loop's iterations: the name of its counter, k0, k1, …
	work       int               // nodes visited
}

// summand is coef times a node, a part of a sum.
type summand struct {
	id   nodeID
	coef int64
}

// terms appends the summands of coef times a node. Extensions are dropped and clamps become
// conditions. A loop variable becomes its start, and one more summand for the sum of its
// steps.
func (t *rangeText) terms(id nodeID, coef int64, list []summand) []summand {
	n := &t.nodes[id]
	if t.work++; t.work > maxTextWork {
		return append(list, summand{0, coef})
	}
	switch n.op {
	case nodeAdd:
		return t.terms(n.args[1], coef, t.terms(n.args[0], coef, list))
	case nodeSub:
		return t.terms(n.args[1], -coef, t.terms(n.args[0], coef, list))
	case nodeExtend, nodeMeet:
		return t.terms(n.args[0], coef, list)
	case nodeWhen:
		return t.terms(n.args[1], coef, list)
	case nodeClamp:
		t.condition(n)
		return t.terms(n.args[0], coef, list)
	case nodeInduct:
		return append(t.terms(n.args[0], coef, list), summand{id, coef})
	case nodeMul:
		for k, a := range n.args[:2] {
			if c := &t.nodes[a]; c.op == nodeConst && c.imm != 0 {
				return append(list, summand{n.args[1-k], coef * c.imm})
			}
		}
	}
	return append(list, summand{id, coef})
}

// sum writes a sum. Summands with equal texts are combined.
func (t *rangeText) sum(list []summand) string {
	var texts []string
	coefs := map[string]int64{}
	constant := int64(0)
	for _, s := range list {
		n := &t.nodes[s.id]
		if n.op == nodeConst {
			constant += s.coef * n.imm
			continue
		}
		var text string
		if n.op == nodeInduct {
			var times int64
			text, times = t.iterations(n)
			s.coef *= times
		} else {
			text = t.factor(s.id)
		}
		if !slices.Contains(texts, text) {
			texts = append(texts, text)
		}
		coefs[text] += s.coef
	}
	var out strings.Builder
	for _, text := range texts {
		c := coefs[text]
		switch {
		case c == 0:
			continue
		case c < 0:
			out.WriteString("-")
		case out.Len() > 0:
			out.WriteString("+")
		}
		if c != 1 && c != -1 {
			fmt.Fprintf(&out, "%d*", max(c, -c))
		}
		out.WriteString(text)
	}
	switch {
	case out.Len() == 0:
		return fmt.Sprint(constant)
	case constant != 0:
		fmt.Fprintf(&out, "%+d", constant)
	}
	return out.String()
}

// iterations returns the sum of a loop variable's steps, as a text and a factor: "n*k0" and
// 4 for k0 iterations that each add 4*n. The counter of the loop becomes a condition.
func (t *rangeText) iterations(n *node) (text string, times int64) {
	loop := n.args[2]
	counter, ok := t.counters[loop]
	if !ok {
		counter = fmt.Sprintf("k%d", len(t.counters))
		t.counters[loop] = counter
		t.conditions = append(t.conditions, fmt.Sprintf("%s in the loop at line %d", counter, n.imm))
	}
	list := t.terms(n.args[1], 1, nil)
	switch step := &t.nodes[list[0].id]; {
	case len(list) > 1:
		return "(" + t.sum(list) + ")*" + counter, 1
	case step.op == nodeConst:
		return counter, step.imm * list[0].coef
	}
	return t.factor(list[0].id) + "*" + counter, list[0].coef
}

// factor writes a node as part of a product, in parentheses if it is a sum.
func (t *rangeText) factor(id nodeID) string {
	switch n := &t.nodes[id]; n.op {
	case nodeAdd, nodeSub, nodeExtend, nodeMeet, nodeWhen, nodeClamp, nodeInduct:
		list := t.terms(id, 1, nil)
		if len(list) == 1 && list[0].coef == 1 && t.nodes[list[0].id].op != nodeInduct {
			return t.factor(list[0].id)
		}
		return "(" + t.sum(list) + ")"
	}
	if t.work > maxTextWork {
		return "…"
	}
	return t.atom(id)
}

// expr writes a node.
func (t *rangeText) expr(id nodeID) string { return t.sum(t.terms(id, 1, nil)) }

// infix are the operators of binary operations that are not sums, products or functions.
var infix = map[nodeOp]string{
	nodeMulHi: " mulhi ", nodeShl: "<<", nodeShr: ">>", nodeAnd: "&", nodeOr: "|", nodeXor: "^", nodeDiv: "/", nodeRem: "%",
}

// atom writes a node that is not a sum.
func (t *rangeText) atom(id nodeID) string {
	n := &t.nodes[id]
	switch n.op {
	case nodeUnknown:
		return "?"
	case nodeConst:
		return fmt.Sprint(n.imm)
	case nodeParam:
		name := t.name(int(n.param.param))
		if n.param.off != 0 {
			name += fmt.Sprintf(".%d", n.param.off)
		}
		return name
	case nodeSpecial:
		return affineSpecials[n.imm][1:]
	case nodeMul:
		return t.product(n)
	case nodeNot:
		return "^" + t.factor(n.args[0])
	case nodeAbs:
		return "abs(" + t.expr(n.args[0]) + ")"
	case nodeMin:
		return "min(" + t.expr(n.args[0]) + ", " + t.expr(n.args[1]) + ")"
	case nodeMax:
		return "max(" + t.expr(n.args[0]) + ", " + t.expr(n.args[1]) + ")"
	case nodeUnion:
		return t.either(id)
	}
	return "(" + t.factor(n.args[0]) + infix[n.op] + t.factor(n.args[1]) + ")"
}

// product writes a constant first, as in 4*i.
func (t *rangeText) product(n *node) string {
	x, y := n.args[0], n.args[1]
	if t.nodes[y].op == nodeConst {
		x, y = y, x
	}
	return t.factor(x) + "*" + t.factor(y)
}

// either writes a union of any number of nodes.
func (t *rangeText) either(id nodeID) string {
	var parts []string
	var collect func(id nodeID)
	collect = func(id nodeID) {
		if n := &t.nodes[id]; n.op == nodeUnion {
			collect(n.args[0])
			collect(n.args[1])
		} else if text := t.expr(id); !slices.Contains(parts, text) {
			parts = append(parts, text)
		}
	}
	collect(id)
	return "either(" + strings.Join(parts, ", ") + ")"
}

// compared are the texts of comparisons, by comparison.
var compared = [...]string{"==", "!=", "<", "<=", ">", ">="}

// condition adds the condition of a clamp, unless its text was cut or is listed already.
func (t *rangeText) condition(n *node) {
	left := append(t.terms(n.args[0], 1, nil), summand{t.constant(n.imm), 1})
	text := t.sum(left) + " " + compared[n.cmp] + " " + t.expr(n.args[1])
	if !slices.Contains(t.conditions, text) && !strings.Contains(text, "…") {
		t.conditions = append(t.conditions, text)
	}
}
