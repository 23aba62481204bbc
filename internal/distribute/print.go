package distribute

import (
	"fmt"
	"strings"

	"github.com/reprise-gpu/reprise/ir"
)

// String returns the text form of a plan: the decisions, the memory of each device, and the rounds. Devices are rank.device.
func (p *Plan) String() string {
	w := &printer{p: p}
	w.line("plan of %s: ranks %d, devices %d", p.Graph.Name, p.Layout.Ranks(), len(p.Layout.Devices))
	w.decisions()
	w.memory()
	for r := range p.Rounds {
		w.round(r)
	}
	return w.b.String()
}

// Why returns one line for each operation: how it is distributed, and the reason.
func (p *Plan) Why() string {
	w := &printer{p: p}
	w.decisions()
	return w.b.String()
}

type printer struct {
	p *Plan
	b strings.Builder
}

func (w *printer) line(format string, args ...any) {
	fmt.Fprintf(&w.b, format, args...)
	w.b.WriteByte('\n')
}

func (w *printer) decisions() {
	patterns := w.p.Patterns
	for v := range w.p.Decisions {
		d := &w.p.Decisions[v]
		w.line("  %v %s: %s", ir.OpID(v), w.title(ir.OpID(v)), w.how(d))
		for ; len(patterns) > 0 && patterns[0].Of == ir.OpID(v); patterns = patterns[1:] {
			one := &patterns[0]
			w.line("    before it: %v of @%s, %d bytes in %s", one.Shape, w.p.Graph.Buffers[one.Buffer].Name, one.Bytes, parts(one.Parts))
		}
	}
}

func parts(n int) string {
	if n == 1 {
		return "one part"
	}
	return fmt.Sprintf("%d parts", n)
}

// title names an operation.
func (w *printer) title(v ir.OpID) string {
	op := &w.p.Graph.Ops[v]
	switch {
	case op.Label != "":
		return op.Label
	case op.Kind == ir.KindLaunch:
		return op.Launch.Entry
	}
	return op.Kind.String()
}

func (w *printer) how(d *Decision) string {
	switch d.How {
	case Whole:
		return fmt.Sprintf("whole on %s, because %s", w.device(d.Chunks[0].Device), d.Why)
	case Replicated:
		return fmt.Sprintf("on every device, because %s", d.Why)
	}
	return fmt.Sprintf("split, because %s", d.Why)
}

func (w *printer) memory() {
	for d := range w.p.Memory {
		fmt.Fprintf(&w.b, "  memory of %s: %d bytes", w.device(int32(d)), w.p.Bytes(d))
		for b, s := range w.p.Memory[d] {
			if s.Hi > s.Lo {
				fmt.Fprintf(&w.b, " %s", w.bytes(ir.Range{Buffer: ir.BufferID(b), Lo: s.Lo, Hi: s.Hi}))
			}
		}
		for _, bytes := range w.p.Scratch[d] {
			if bytes > 0 {
				fmt.Fprintf(&w.b, " %d to pack rows", bytes)
			}
		}
		w.b.WriteByte('\n')
	}
	for rank, n := range w.p.Staging() {
		if n > 0 {
			fmt.Fprintf(&w.b, "  host memory of rank %d: %d bytes\n", rank, n)
		}
	}
}

// device returns the name of a device: rank.device.
func (w *printer) device(d int32) string {
	rank := w.p.Layout.Devices[d].Rank
	lo, _ := w.p.Layout.local(rank)
	return fmt.Sprintf("%d.%d", rank, d-lo)
}

// span names the bytes of a range of places, in the syntax of traces.
func (w *printer) span(r ir.Range) string {
	f := w.p.Frame(r.Buffer)
	if f == nil || r.Empty() {
		return w.bytes(r)
	}
	var list []string
	for _, b := range f.Boxes(r.Lo, r.Hi) {
		if b.Contiguous() {
			list = append(list, w.bytes(ir.Range{Buffer: r.Buffer, Lo: b.Lo, Hi: b.Hi()}))
			continue
		}
		list = append(list, fmt.Sprintf("@%s[%d:%d, %d every %d]", w.p.Graph.Buffers[r.Buffer].Name, b.Lo, b.Hi(), b.Run, b.Stride[0]))
	}
	return strings.Join(list, "+")
}

// bytes names consecutive bytes.
func (w *printer) bytes(r ir.Range) string {
	b := &w.p.Graph.Buffers[r.Buffer]
	if r.Lo == 0 && r.Hi == b.Size() {
		return "@" + b.Name
	}
	return fmt.Sprintf("@%s[%d:%d]", b.Name, r.Lo, r.Hi)
}

func (w *printer) round(r int) {
	repeats := ""
	if r >= w.p.Repeat {
		repeats = ", repeated"
	}
	w.line("round %d%s", r, repeats)
	round := &w.p.Rounds[r]
	x := 0
	for i := range round.Ops {
		for ; x < len(round.Exchanges) && round.Exchanges[x].At == i; x++ {
			w.exchange(x, &round.Exchanges[x])
		}
		w.op(r, i, &round.Ops[i])
	}
}

func (w *printer) exchange(x int, e *Exchange) {
	w.line("  exchange %d", x)
	for i, part := range e.Parts {
		if part.To >= 0 {
			w.line("    %d: rank %d to rank %d %s", i, part.From, part.To, w.span(part.Bytes))
			continue
		}
		fmt.Fprintf(&w.b, "    %d: all ranks gather %s", i, w.span(part.Bytes))
		for _, piece := range part.Pieces {
			fmt.Fprintf(&w.b, " %d[%d:%d]", piece.Rank, piece.Lo, piece.Hi)
		}
		w.b.WriteByte('\n')
	}
}

func (w *printer) op(r, i int, op *Op) {
	fmt.Fprintf(&w.b, "  #%d %s ", i, w.device(op.Device))
	switch op.Kind {
	case Run:
		d := &w.p.Decisions[op.Of]
		c := &d.Chunks[op.Chunk]
		fmt.Fprintf(&w.b, "run %v", op.Of)
		switch {
		case c.Tile != nil:
			fmt.Fprintf(&w.b, " [%s]", c.Tile)
		case d.How == Split:
			fmt.Fprintf(&w.b, " [%d:%d]", c.First, c.First+c.Count)
		}
		if c.Edge {
			w.b.WriteString(" edge")
		}
		if d.Aside {
			w.b.WriteString(" aside")
		}
	case Load:
		fmt.Fprintf(&w.b, "load %s", w.span(op.Bytes))
	case Push:
		fmt.Fprintf(&w.b, "push %s to %s", w.span(op.Bytes), w.device(op.Peer))
	case Out:
		fmt.Fprintf(&w.b, "out %s%s", w.span(op.Bytes), w.part(op, ""))
	case In:
		fmt.Fprintf(&w.b, "in %s%s", w.span(op.Bytes), w.part(op, fmt.Sprintf(" of #%d", op.Part)))
	}
	for i, wait := range op.Waits {
		if i == 0 {
			w.b.WriteString(" wait")
		}
		if int(wait.Round) == r {
			fmt.Fprintf(&w.b, " #%d", wait.Op)
		} else {
			fmt.Fprintf(&w.b, " %d#%d", wait.Round, wait.Op)
		}
	}
	w.b.WriteByte('\n')
}

// part names the part of an exchange that an Out or an In belongs to, or what is given if there is no exchange.
func (w *printer) part(op *Op, without string) string {
	if op.Exchange < 0 {
		return without
	}
	return fmt.Sprintf(" part %d.%d", op.Exchange, op.Part)
}
