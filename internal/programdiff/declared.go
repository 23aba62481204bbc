package programdiff

import (
	"fmt"
	"hash/fnv"
	"slices"
	"strings"

	"github.com/reprise-gpu/reprise/ir"
)

// declaration is a parameter or a buffer.
type declaration struct {
	name string // as in "param $omega"
	is   []property
}

// declared compares what two programs declare: parameters and buffers, by their names.
func (d *Difference) declared(a, b []declaration) {
	named := func(name string) func(declaration) bool {
		return func(other declaration) bool { return other.name == name }
	}
	for _, before := range a {
		i := slices.IndexFunc(b, named(before.name))
		if i < 0 {
			d.Removed = append(d.Removed, before.name)
		} else if what := changes(before.is, b[i].is); len(what) > 0 {
			d.Changed = append(d.Changed, Change{before.name, before.name, what})
		}
	}
	for _, after := range b {
		if !slices.ContainsFunc(a, named(after.name)) {
			d.Added = append(d.Added, after.name)
		}
	}
}

// declarations returns the parameters and the buffers of a program, in its order.
func (x *side) declarations(contents []ir.Contents) (all []declaration) {
	for _, p := range x.g.Params {
		all = append(all, declaration{"param $" + p.Name, []property{{"value", p.Value.String()}}})
	}
	for i := range x.g.Buffers {
		b := &x.g.Buffers[i]
		offset := "none"
		if x.s != nil && x.s.Offset != nil && x.s.Offset[i] >= 0 {
			offset = fmt.Sprint(x.s.Offset[i])
		}
		all = append(all, declaration{"buffer @" + b.Name, []property{
			{"type", b.Elem.String()}, {"elements", fmt.Sprint(b.Len)}, {"memory", b.Place.String()}, {"role", b.Role.String()},
			{"contents", contentsOf(contents, ir.BufferID(i))}, {"offset in the arena", offset},
		}})
	}
	return all
}

// contentsOf returns what a program states about the contents of a buffer, as its text does, with a hash for the bytes.
func contentsOf(all []ir.Contents, b ir.BufferID) string {
	i := slices.IndexFunc(all, func(c ir.Contents) bool { return c.Buffer == b })
	if i < 0 {
		return "none"
	}
	c := &all[i]
	_, lo, _ := strings.Cut(c.Lo.String(), "=")
	_, hi, _ := strings.Cut(c.Hi.String(), "=")
	switch {
	case c.Data != nil:
		h := fnv.New64a()
		h.Write(c.Data)
		return fmt.Sprintf("%016x", h.Sum64())
	case lo == hi:
		return fmt.Sprintf("fill(%s)", lo)
	}
	return fmt.Sprintf("uniform(%d, %s, %s)", c.Seed, lo, hi)
}
