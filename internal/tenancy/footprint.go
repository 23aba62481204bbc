package tenancy

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/traced"
	"github.com/reprise-gpu/reprise/ir"
)

// span is a range of addresses and a buffer in which it lies.
type span struct {
	lo, hi device.Ptr
	buffer string
}

// footprint is the memory that a program accesses. Its spans are sorted and disjoint.
type footprint struct{ reads, writes []span }

// footprintOf returns the footprint of a program whose buffers have memory.
func footprintOf(g *ir.Graph, bound traced.Bindings) (f footprint) {
	var scratch [2]ir.Access
	for i := range g.Ops {
		for _, a := range g.Ops[i].Accesses(&scratch) {
			if a.Empty() {
				continue
			}
			base := bound.Pointer(a.Buffer)
			s := span{base + device.Ptr(a.Lo), base + device.Ptr(a.Hi), g.Buffers[a.Buffer].Name}
			if a.Mode.Writes() {
				f.writes = append(f.writes, s)
			} else {
				f.reads = append(f.reads, s)
			}
		}
	}
	return footprint{merged(f.reads), merged(f.writes)}
}

// merged sorts spans and joins those that touch.
func merged(list []span) []span {
	slices.SortFunc(list, func(a, b span) int { return cmp.Compare(a.lo, b.lo) })
	kept := list[:0]
	for _, s := range list {
		if n := len(kept); n > 0 && s.lo <= kept[n-1].hi {
			kept[n-1].hi = max(kept[n-1].hi, s.hi)
		} else {
			kept = append(kept, s)
		}
	}
	return kept
}

// conflict returns a buffer of f of which one program writes bytes that the other one accesses.
func (f footprint) conflict(o footprint) (buffer string, found bool) {
	for _, pair := range [][2][]span{{f.writes, o.writes}, {f.writes, o.reads}, {f.reads, o.writes}} {
		if buffer, found = overlap(pair[0], pair[1]); found {
			return buffer, true
		}
	}
	return "", false
}

// overlap returns the buffer of the first span of a that has bytes in common with one of b.
func overlap(a, b []span) (buffer string, found bool) {
	for len(a) > 0 && len(b) > 0 {
		switch {
		case a[0].hi <= b[0].lo:
			a = a[1:]
		case b[0].hi <= a[0].lo:
			b = b[1:]
		default:
			return a[0].buffer, true
		}
	}
	return "", false
}

// separate returns an error if a program writes memory that a tenant uses, or uses memory that a tenant writes: tenants
// run at the same time.
func (s *Server) separate(f footprint) error {
	for _, c := range s.cohorts {
		for _, t := range c.members {
			if buffer, found := f.conflict(t.memory); found {
				return fmt.Errorf("buffer %s is also used by tenant %s, and one of the two writes it: give each tenant memory of its own, or submit both requests to one tenant", buffer, t.Name)
			}
		}
	}
	return nil
}
