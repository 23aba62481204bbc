package distribute

import (
	"cmp"
	"slices"

	"github.com/reprise-gpu/reprise/ir"
)

// Shape is the shape of the transfers of one buffer before an operation.
type Shape uint8

const (
	Halo      Shape = iota // devices get borders from their neighbours, and hold most of what they need
	AllGather              // all devices get the parts of several
	Broadcast              // all devices get what one holds
	AllReduce              // all devices get the private copies of all, to fold them
	Gather                 // one device gets the parts of others
	Scatter                // others get parts of what one device holds
	Single                 // one device gets bytes of another
	Irregular              // none of these
)

// String returns the name of the shape.
func (s Shape) String() string {
	return [...]string{"halo", "all-gather", "broadcast", "all-reduce", "gather", "scatter", "copy", "irregular transfer"}[s]
}

// Pattern is the transfers of one buffer before an operation, in one step. Initial contents are not included.
type Pattern struct {
	Shape  Shape
	Of     ir.OpID
	Buffer ir.BufferID
	Parts  int   // pieces of bytes that a device gets from another one
	Bytes  int64 // of all parts
}

// pattern notes the shape of the transfers in p from move and gather number on, which the needs of one buffer require.
func (s *scanner) pattern(p *pull, v ir.OpID, needs []need, gathers, moves int) {
	var list []move
	for _, m := range p.moves[moves:] {
		if m.from >= 0 {
			list = append(list, m)
		}
	}
	gathered := p.gathers[gathers:]
	for _, g := range gathered {
		list = append(list, g.needs...)
	}
	if len(list) == 0 {
		return
	}
	one := Pattern{Of: v, Buffer: needs[0].Buffer, Parts: len(list), Bytes: total(list)}
	switch from, to := sides(list); {
	case s.reduces(&one):
	case (len(gathered) > 0 || s.alike(needs)) && len(from) > 1:
		one.Shape = AllGather
	case len(gathered) > 0 || s.alike(needs):
		one.Shape = Broadcast
	case s.borders(list, needs, s.decisions[v].Across):
		one.Shape = Halo
	case len(from) == 1 && len(to) == 1:
		one.Shape = Single
	case len(to) == 1:
		one.Shape = Gather
	case len(from) == 1:
		one.Shape = Scatter
	default:
		one.Shape = Irregular
	}
	p.patterns = append(p.patterns, one)
}

func total(list []move) (bytes int64) {
	for _, m := range list {
		bytes += m.Hi - m.Lo
	}
	return bytes
}

// reduces makes a pattern an all-reduce of a buffer if its transfers are those of private copies of the buffer.
func (s *scanner) reduces(one *Pattern) bool {
	of, is := s.copies[one.Buffer]
	if is {
		one.Shape, one.Buffer = AllReduce, of
	}
	return is
}

// sides returns the devices that send and those that receive, ascending.
func sides(list []move) (from, to []int32) {
	for _, m := range list {
		from, to = append(from, m.from), append(to, m.to)
	}
	slices.Sort(from)
	slices.Sort(to)
	return slices.Compact(from), slices.Compact(to)
}

// alike reports whether all devices need the same bytes.
func (s *scanner) alike(needs []need) bool {
	devices := len(s.layout.Devices)
	if len(needs)%devices != 0 {
		return false
	}
	each := len(needs) / devices
	for i, n := range needs {
		if n.device != int32(i/each) || n.Range != needs[i%each].Range {
			return false
		}
	}
	return true
}

// borders reports whether devices get bytes from neighbours only, and each less than it holds of what it needs.
func (s *scanner) borders(list []move, needs []need, across int) bool {
	needed, got := map[int32]int64{}, map[int32]int64{}
	for _, n := range needs {
		needed[n.device] += n.Hi - n.Lo
	}
	for _, m := range list {
		if !adjacent(m.from, m.to, int32(across)) {
			return false
		}
		got[m.to] += m.Hi - m.Lo
		if 2*got[m.to] >= needed[m.to] {
			return false
		}
	}
	return true
}

// shapes returns the patterns of a step.
func shapes(pulls []pull) (list []Pattern) {
	for v := range pulls {
		list = append(list, pulls[v].patterns...)
	}
	return list
}

// merged returns the patterns of several steps by operation, each once.
func merged(steps [][]Pattern) []Pattern {
	list := slices.Concat(steps...)
	slices.SortStableFunc(list, func(a, b Pattern) int { return cmp.Compare(a.Of, b.Of) })
	seen := map[Pattern]bool{}
	return slices.DeleteFunc(list, func(p Pattern) bool {
		again := seen[p]
		seen[p] = true
		return again
	})
}

// adjacent reports whether two devices have chunks side by side: consecutive ones, or tiles of which a number are across.
func adjacent(a, b, across int32) bool {
	if across == 0 {
		return a-b == 1 || b-a == 1
	}
	return max(a/across-b/across, b/across-a/across) <= 1 && max(a%across-b%across, b%across-a%across) <= 1
}
