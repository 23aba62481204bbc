package optimizer

import (
	"cmp"
	"slices"

	"github.com/reprise-gpu/reprise/internal/dense"
	"github.com/reprise-gpu/reprise/ir"
)

// life is the interval of a replay in which a buffer is used. Ranks are positions in the order of submission.
type life struct {
	buffer ir.BufferID
	size   int64   // bytes, rounded up to the alignment
	heads  []int32 // the first use on each lane, ascending
	tails  []int32 // the last use on each lane, ascending
}

// livesOf returns the lives of the buffers that are placeable and used by an operation, in order of
// first use.
func livesOf(s *ir.Schedule) []life {
	ok := placeable(s.Graph)
	uses := make([][]int32, len(ok)) // by buffer: ranks, ascending
	var scratch [2]ir.Access
	for r, v := range s.Order {
		accesses := s.Graph.Ops[v].Accesses(&scratch)
		for _, a := range accesses {
			if u := uses[a.Buffer]; ok[a.Buffer] && !a.Empty() && (len(u) == 0 || u[len(u)-1] != int32(r)) {
				uses[a.Buffer] = append(u, int32(r))
			}
		}
	}
	var lives []life
	for b, u := range uses {
		if len(u) > 0 {
			l := life{buffer: ir.BufferID(b), size: aligned(s.Graph.Buffers[b].Size())}
			l.heads, l.tails = endsByLane(s, u)
			lives = append(lives, l)
		}
	}
	slices.SortFunc(lives, func(a, b life) int {
		return cmp.Or(cmp.Compare(a.heads[0], b.heads[0]), cmp.Compare(a.buffer, b.buffer))
	})
	return lives
}

// endsByLane returns the first and the last of the ranks on each lane.
func endsByLane(s *ir.Schedule, ranks []int32) (heads, tails []int32) {
	lane := func(r int32) ir.LaneID { return s.Lane[s.Order[r]] }
	slices.SortStableFunc(ranks, func(a, b int32) int { return cmp.Compare(lane(a), lane(b)) })
	for i, r := range ranks {
		if i == 0 || lane(r) != lane(ranks[i-1]) {
			heads = append(heads, r)
		}
		if i+1 == len(ranks) || lane(r) != lane(ranks[i+1]) {
			tails = append(tails, r)
		}
	}
	slices.Sort(heads)
	slices.Sort(tails)
	return heads, tails
}

// precedence answers which lives end before others begin. It works on a batch of lives, consecutive by first use: one
// sweep over the schedule computes which operations reach the heads of the batch, for at most 512 heads.
type precedence struct {
	sweep   *dense.Sweep
	columns []int32       // ranks of the heads of the batch, ascending: column i of a block is columns[i]
	low     int32         // the lowest rank for which reach is known
	reach   []dense.Block // by rank-low: the columns that the operation reaches
	spare   []dense.Block // the array of reach
	heading []int32       // result of heads, reused
}

// maxHeads is the largest number of lanes on which a life may begin and still follow another one. A life with
// more heads is treated as following none: it would use up the columns of a batch.
const maxHeads = 64

// start begins a batch with as many of the lives as there are columns for, and returns their number. Tails
// below low are treated as preceding nothing.
func (p *precedence) start(lives []life, low int32) int {
	p.columns = p.columns[:0]
	n := 0
	for ; n < len(lives); n++ {
		more := lives[n].heads
		if len(more) > maxHeads {
			continue
		}
		if len(p.columns)+len(more) > dense.BlockBits {
			break
		}
		p.columns = append(p.columns, more...)
	}
	slices.Sort(p.columns)
	p.columns = slices.Compact(p.columns)
	p.low, p.reach = low, nil
	if len(p.columns) == 0 || p.columns[len(p.columns)-1] < low {
		return n
	}
	size := int(p.columns[len(p.columns)-1]-low) + 1
	if size > len(p.spare) {
		p.spare = make([]dense.Block, size)
	}
	p.reach = p.spare[:size]
	p.sweep.Run(p.columns, low, func(v int32, reached *dense.Block) { p.reach[v-low] = *reached })
	return n
}

// after returns the columns that come after every use of a life.
func (p *precedence) after(l *life) (row dense.Block) {
	for i, t := range l.tails {
		if t < p.low || int(t-p.low) >= len(p.reach) {
			return dense.Block{}
		}
		if i == 0 {
			row = p.reach[t-p.low]
		} else {
			row.And(&p.reach[t-p.low])
		}
	}
	return row
}

// heads returns the columns of a life, and false if the life follows nothing. The slice is valid until the
// next call.
func (p *precedence) heads(l *life) (columns []int32, ok bool) {
	p.heading = p.heading[:0]
	if len(l.heads) > maxHeads {
		return nil, false
	}
	for _, h := range l.heads {
		i, _ := slices.BinarySearch(p.columns, h)
		p.heading = append(p.heading, int32(i))
	}
	return p.heading, true
}

// conflictsOf returns, by life, the lives that it may overlap, in one bit for each pair.
func conflictsOf(d *dense.Graph, lives []life) []dense.Set {
	conflicts := make([]dense.Set, len(lives))
	for i := range conflicts {
		conflicts[i] = dense.NewSet(len(lives))
	}
	p := precedence{sweep: dense.NewSweep(d)}
	for first := 0; first < len(lives); {
		end := first + p.start(lives[first:], lives[0].heads[0])
		after := make([]dense.Block, end)
		for i := range after {
			after[i] = p.after(&lives[i])
		}
		for j := first; j < end; j++ {
			heads, follows := p.heads(&lives[j])
			for i := range j {
				if !follows || !after[i].HasAll(heads) {
					conflicts[i].Add(j)
					conflicts[j].Add(i)
				}
			}
		}
		first = end
	}
	return conflicts
}
