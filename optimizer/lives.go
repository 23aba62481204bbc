package optimizer

import (
	"cmp"
	"slices"

	"github.com/reprise-gpu/reprise/internal/dense"
	"github.com/reprise-gpu/reprise/ir"
)

// life is the part of a replay in which a buffer is used. All ranks are of submission.
type life struct {
	buffer ir.BufferID
	size   int64   // with what aligns the next
	heads  []int32 // the first use on each lane, ascending
	tails  []int32 // the last use on each lane, ascending
}

// livesOf collects the lives of the buffers that an arena may hold and an operation uses,
// by first use.
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

// precedence tells, of lives next to each other by first use, which others end before
// them. It asks the schedule which operations reach the heads of these, 512 at a time.
type precedence struct {
	sweep   *dense.Sweep
	columns []int32       // ranks of the heads, ascending
	low     int32         // the lowest rank that was asked
	reach   []dense.Block // by rank from low
	spare   []dense.Block // that reach is cut from
	heading []int32       // columns of a life
}

// maxHeads is the most lanes on which a life may open and still follow another. One that
// opens on more follows none: it would fill the columns of all others.
const maxHeads = 64

// ask takes as many of the lives as there are columns for, and returns how many. Tails
// below low are not known to precede anything.
func (p *precedence) ask(lives []life, low int32) int {
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

// after is the set of columns that come after all of a life.
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

// heads are the columns of a life, false if it follows nothing. They are good until the
// next are asked for.
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

// conflictsOf lists, by life, those that it may overlap. It takes a bit for each pair.
func conflictsOf(d *dense.Graph, lives []life) []dense.Set {
	conflicts := make([]dense.Set, len(lives))
	for i := range conflicts {
		conflicts[i] = dense.NewSet(len(lives))
	}
	p := precedence{sweep: dense.NewSweep(d)}
	for first := 0; first < len(lives); {
		end := first + p.ask(lives[first:], lives[0].heads[0])
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
