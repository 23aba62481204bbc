package distribute

import (
	"slices"

	"github.com/reprise-gpu/reprise/ir"
)

// emitter lists the operations of one step in the order of submission.
type emitter struct {
	plan  *Plan
	pulls []pull
	round Round
}

// emit returns the round of a step with these pulls.
//
// Before each operation of the graph, the transfers that it needs are listed. Those between ranks are collected to
// exchanges. An exchange takes place as late as its first user allows, and includes everything that later operations need
// and that has been written before, so that the number of exchanges is the least possible for this order of operations.
//
//	pulls     %1 needs a    %2 needs b, written before %1    %3 needs c, written by %2
//	          │             │                                │
//	exchanges └── a, b ─────┘                                └── c
func emit(p *Plan, pulls []pull) Round {
	e := &emitter{plan: p, pulls: pulls}
	for v := range pulls {
		e.direct(v)
		e.exchange(ir.OpID(v))
		e.staged(v)
		for i := range p.Decisions[v].Chunks {
			c := &p.Decisions[v].Chunks[i]
			e.add(Op{Kind: Run, Device: c.Device, Of: ir.OpID(v), Chunk: int32(i)})
		}
	}
	return e.round
}

func (e *emitter) add(op Op) int32 {
	e.round.Ops = append(e.round.Ops, op)
	return int32(len(e.round.Ops) - 1)
}

func (e *emitter) rank(device int32) int32 { return e.plan.Layout.Devices[device].Rank }

// path is the way that bytes take from one device to another.
type path uint8

const (
	fromHost path = iota // initial contents
	direct               // between peers
	staged               // through pinned memory of the rank
	network              // between ranks
)

func (e *emitter) path(m *move) path {
	switch {
	case m.from < 0:
		return fromHost
	case e.rank(m.from) != e.rank(m.to):
		return network
	case e.plan.Layout.Peers(m.from, m.to):
		return direct
	}
	return staged
}

// direct lists the transfers of operation v that involve one host at most and no staging.
func (e *emitter) direct(v int) {
	p := &e.pulls[v]
	for i := range p.moves {
		switch m := &p.moves[i]; e.path(m) {
		case fromHost:
			e.add(Op{Kind: Load, Device: m.to, Bytes: m.Range})
		case direct:
			e.add(Op{Kind: Push, Device: m.from, Peer: m.to, Bytes: m.Range})
		}
	}
	for i := range p.gathers {
		e.pushes(&p.gathers[i])
	}
}

// pushes lists the transfers of a gathering between peers.
func (e *emitter) pushes(g *gather) {
	for i := range g.needs {
		if m := &g.needs[i]; e.path(m) == direct {
			e.add(Op{Kind: Push, Device: m.from, Peer: m.to, Bytes: m.Range})
		}
	}
}

// staged lists the transfers of operation v between devices of one rank that are no peers.
func (e *emitter) staged(v int) {
	p := &e.pulls[v]
	outs := map[move]int32{}
	for i := range p.moves {
		m := &p.moves[i]
		if e.path(m) != staged {
			continue
		}
		key := move{Range: m.Range, from: m.from}
		out, is := outs[key]
		if !is {
			out = e.add(Op{Kind: Out, Device: m.from, Bytes: m.Range, Exchange: -1})
			outs[key] = out
		}
		e.add(Op{Kind: In, Device: m.to, Bytes: m.Range, Exchange: -1, Part: out})
	}
}

// exchange lists an exchange before operation v if v needs bytes that no exchange has brought yet.
func (e *emitter) exchange(v ir.OpID) {
	if !e.pending(v) {
		return
	}
	x := &exchanger{emitter: e, index: int32(len(e.round.Exchanges)), parts: map[partKey]int32{}}
	for w := int(v); w < len(e.pulls); w++ {
		x.take(w, v)
	}
	e.round.Exchanges = append(e.round.Exchanges, Exchange{At: len(e.round.Ops), Parts: x.list})
	e.round.Ops = append(e.round.Ops, x.ins...)
}

// pending reports whether operation v needs an exchange.
func (e *emitter) pending(v ir.OpID) bool {
	p := &e.pulls[v]
	return slices.ContainsFunc(p.moves, func(m move) bool { return e.path(&m) == network }) ||
		slices.ContainsFunc(p.gathers, e.crosses)
}

// crosses reports whether a gathering needs an exchange: some device lacks bytes that no peer holds.
func (e *emitter) crosses(g gather) bool {
	return slices.ContainsFunc(g.needs, func(m move) bool { return e.path(&m) != direct })
}

// exchanger collects one exchange.
type exchanger struct {
	*emitter
	index int32
	list  []Part
	parts map[partKey]int32 // of messages
	ins   []Op
}

// partKey identifies a message: devices of one rank that need the same bytes share it.
type partKey struct {
	ir.Range
	from, toRank int32
}

// take moves the transfers of operation w that are written before operation v from its pull to the exchange.
func (x *exchanger) take(w int, v ir.OpID) {
	p := &x.pulls[w]
	p.moves = slices.DeleteFunc(p.moves, func(m move) bool {
		if x.path(&m) != network || m.made >= v {
			return false
		}
		x.message(&m)
		return true
	})
	p.gathers = slices.DeleteFunc(p.gathers, func(g gather) bool {
		if !x.crosses(g) || g.made >= v {
			return false
		}
		if ir.OpID(w) != v {
			x.pushesLater(w, &g)
		}
		x.gathering(&g)
		return true
	})
}

// pushesLater keeps the transfers between peers of a gathering whose exchange is before its operation.
func (x *exchanger) pushesLater(w int, g *gather) {
	for _, m := range g.needs {
		if x.path(&m) == direct {
			x.pulls[w].moves = append(x.pulls[w].moves, m)
		}
	}
}

// message adds a move to the exchange.
func (x *exchanger) message(m *move) {
	key := partKey{m.Range, m.from, x.rank(m.to)}
	part, is := x.parts[key]
	if !is {
		part = int32(len(x.list))
		x.parts[key] = part
		x.list = append(x.list, Part{From: x.rank(m.from), To: key.toRank, Bytes: m.Range})
		x.add(Op{Kind: Out, Device: m.from, Bytes: m.Range, Exchange: x.index, Part: part})
	}
	x.ins = append(x.ins, Op{Kind: In, Device: m.to, Bytes: m.Range, Exchange: x.index, Part: part})
}

// gathering adds a gathering to the exchange. What a device lacks is brought in pieces as long as possible.
func (x *exchanger) gathering(g *gather) {
	part := int32(len(x.list))
	one := Part{From: -1, To: -1, Bytes: g.Range}
	for i := range g.pieces {
		m := &g.pieces[i]
		one.Pieces = append(one.Pieces, Piece{x.rank(m.from), m.Lo, m.Hi})
		x.add(Op{Kind: Out, Device: m.from, Bytes: m.Range, Exchange: x.index, Part: part})
	}
	x.list = append(x.list, one)
	for i := range g.needs {
		m := &g.needs[i]
		if x.path(m) == direct {
			continue
		}
		last := len(x.ins) - 1
		if last >= 0 && x.plan.Frame(m.Buffer) == nil && x.ins[last].Part == part && x.ins[last].Device == m.to && x.ins[last].Bytes.Hi == m.Lo {
			x.ins[last].Bytes.Hi = m.Hi
			continue
		}
		x.ins = append(x.ins, Op{Kind: In, Device: m.to, Bytes: m.Range, Exchange: x.index, Part: part})
	}
}
