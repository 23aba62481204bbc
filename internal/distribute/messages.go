package distribute

import (
	"cmp"
	"slices"
)

// Messages calls f for each message of an exchange between a number of ranks, those of a sender together and in the order
// in which it sends them. All parts from one rank to another are one message. A rank sends its pieces of a gathering to
// each other rank, and adjacent pieces are one message.
func (e *Exchange) Messages(ranks int, f func(from, to int, bytes int64)) {
	pairs := e.pairs()
	runs := make([][]int64, ranks)
	for i := range e.Parts {
		for from, list := range e.Parts[i].runs() {
			runs[from] = append(runs[from], list...)
		}
	}
	for from := range ranks {
		for to := range ranks {
			if to == from {
				continue
			}
			if len(pairs) > 0 && pairs[0].from == int32(from) && pairs[0].to == int32(to) {
				f(from, to, pairs[0].bytes)
				pairs = pairs[1:]
			}
			for _, bytes := range runs[from] {
				f(from, to, bytes)
			}
		}
	}
}

// pair is the bytes that one rank sends to another alone.
type pair struct {
	from, to int32
	bytes    int64
}

// pairs returns the parts that are no gatherings, those of two ranks together, by sender and receiver.
func (e *Exchange) pairs() (list []pair) {
	for i := range e.Parts {
		if p := &e.Parts[i]; p.To >= 0 {
			list = append(list, pair{p.From, p.To, p.Bytes.Hi - p.Bytes.Lo})
		}
	}
	slices.SortFunc(list, func(a, b pair) int { return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.to, b.to)) })
	kept := list[:0]
	for _, p := range list {
		if n := len(kept) - 1; n >= 0 && kept[n].from == p.from && kept[n].to == p.to {
			kept[n].bytes += p.bytes
			continue
		}
		kept = append(kept, p)
	}
	return kept
}

// runs returns, by rank, the bytes of its pieces of a gathering; those that follow each other without a gap are one.
func (p *Part) runs() map[int32][]int64 {
	list := map[int32][]int64{}
	for i, piece := range p.Pieces {
		if mine := list[piece.Rank]; i > 0 && p.Pieces[i-1].Rank == piece.Rank && p.Pieces[i-1].Hi == piece.Lo {
			mine[len(mine)-1] += piece.Hi - piece.Lo
			continue
		}
		list[piece.Rank] = append(list[piece.Rank], piece.Hi-piece.Lo)
	}
	return list
}
