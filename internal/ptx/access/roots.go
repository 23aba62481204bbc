package access

import (
	"slices"

	"github.com/reprise-gpu/reprise/internal/ptx"
)

// rootKind says where a value that may be an address comes from.
type rootKind uint8

const (
	rootInt       rootKind = iota // arithmetic of no known origin: an offset, unless nothing else is there
	rootNull                      // a constant
	rootParam                     // the value of a kernel parameter, or of eight bytes of one
	rootOffset                    // a number computed from a kernel parameter, which may be an address after all
	rootParamAddr                 // the address of a kernel parameter
	rootSymbol                    // the address of a module variable in .global or .const
	rootShared                    // an address in shared memory
	rootLocal                     // an address in local memory
	rootHidden                    // device heap, workspace of a cooperative launch
	rootLoaded                    // a 64-bit value read from memory
	rootUnknown                   // the result of something not understood
	rootIndex                     // a 64-bit value read from memory that was added to a pointer
	rootMinus                     // an address, or a parameter that may be one, was subtracted
)

// root is one origin. Field is the byte offset inside a parameter, -1 when it
// is not known.
type root struct {
	kind  rootKind
	param int
	field int
	v     *ptx.Var
	pos   ptx.Pos
}

type rootID int32

// rootSet names an interned set of roots; the zero set is empty, which means
// that nothing is known yet.
type rootSet int32

// rootTable interns roots and their sets. A kernel has a handful of roots but
// tens of thousands of registers, most of them with equal sets, so sets are
// numbers and unions are remembered.
type rootTable struct {
	roots []root
	ids   map[root]rootID
	sets  [][]rootID // sorted
	index map[string]rootSet
	memo  map[[2]rootSet]rootSet

	sources [rootUnknown + 1]int
}

// The two roots that are no address come first in every set.
const (
	intRoot rootID = iota
	nullRoot
)

func newRootTable() *rootTable {
	t := &rootTable{
		ids:   map[root]rootID{},
		sets:  [][]rootID{nil},
		index: map[string]rootSet{"": 0},
		memo:  map[[2]rootSet]rootSet{},
	}
	t.id(root{kind: rootInt})
	t.id(root{kind: rootNull})
	return t
}

func (t *rootTable) id(r root) rootID {
	id, ok := t.ids[r]
	if !ok {
		id = rootID(len(t.roots))
		t.ids[r] = id
		t.roots = append(t.roots, r)
	}
	return id
}

// maxSources bounds the roots of kinds that each instruction may add one of;
// with thousands of them in one cell, sets would take quadratic space.
const maxSources = 64

// source is the set of a value that the instruction at pos got from memory or
// from something not understood. Past maxSources they are not told apart.
func (t *rootTable) source(kind rootKind, pos ptx.Pos) rootSet {
	r := root{kind: kind, pos: pos}
	if _, ok := t.ids[r]; !ok && t.sources[kind] == maxSources {
		r.pos = ptx.Pos{}
	} else if !ok {
		t.sources[kind]++
	}
	return t.single(r)
}

func (t *rootTable) single(r root) rootSet { return t.intern([]rootID{t.id(r)}) }

func (t *rootTable) intern(ids []rootID) rootSet {
	key := make([]byte, 0, 4*len(ids))
	for _, id := range ids {
		key = append(key, byte(id), byte(id>>8), byte(id>>16), byte(id>>24))
	}
	set, ok := t.index[string(key)]
	if !ok {
		set = rootSet(len(t.sets))
		t.index[string(key)] = set
		t.sets = append(t.sets, ids)
	}
	return set
}

func (t *rootTable) union(a, b rootSet) rootSet {
	switch {
	case a == b || b == 0:
		return a
	case a == 0:
		return b
	}
	key := [2]rootSet{min(a, b), max(a, b)}
	set, ok := t.memo[key]
	if !ok {
		ids := slices.Concat(t.sets[a], t.sets[b])
		slices.Sort(ids)
		set = t.intern(slices.Compact(ids))
		t.memo[key] = set
	}
	return set
}

// split cuts a set into its integers and constants, and its addresses.
func (t *rootTable) split(s rootSet) (numbers, addresses rootSet) {
	ids := t.sets[s]
	n := 0
	for n < len(ids) && ids[n] <= nullRoot {
		n++
	}
	if n == 0 {
		return 0, s
	}
	return t.intern(ids[:n:n]), t.intern(ids[n:])
}

// mapped is s with each root replaced; one for which f reports false is left out.
func (t *rootTable) mapped(s rootSet, f func(root) (root, bool)) rootSet {
	out := rootSet(0)
	for _, id := range t.sets[s] {
		if r, ok := f(t.roots[id]); ok {
			out = t.union(out, t.single(r))
		}
	}
	return out
}

// offsets is the parameters of s as numbers.
func (t *rootTable) offsets(s rootSet) rootSet {
	return t.mapped(s, func(r root) (root, bool) {
		ok := r.kind == rootParam || r.kind == rootOffset
		r.kind = rootOffset
		return r, ok
	})
}

// negated is s after it was subtracted: its parameters are numbers now, and rootMinus
// marks that something was subtracted that may be an address.
func (t *rootTable) negated(s rootSet) rootSet {
	out := t.mapped(s, func(r root) (root, bool) {
		if r.kind == rootParam {
			r.kind = rootOffset
		}
		return r, true
	})
	if t.any(s, func(id rootID) bool { k := t.roots[id].kind; return id > nullRoot && k != rootLoaded && k != rootIndex }) {
		out = t.union(out, t.minus())
	}
	return out
}

func (t *rootTable) minus() rootSet { return t.single(root{kind: rootMinus}) }

// subtracted reports whether something that may be an address was subtracted on the
// way to s.
func (t *rootTable) subtracted(s rootSet) bool {
	return t.any(s, func(id rootID) bool { return t.roots[id].kind == rootMinus })
}

// leads reports whether a root of s is more than a number beside an address.
func (t *rootTable) leads(s rootSet) bool {
	return t.any(s, func(id rootID) bool {
		switch t.roots[id].kind {
		case rootNull, rootOffset, rootIndex, rootMinus:
			return false
		}
		return true
	})
}

// loaded is the values of s that were read from memory, as addresses.
func (t *rootTable) loaded(s rootSet) rootSet { return t.read(s, rootLoaded) }

// indices is the values of s that were read from memory, as indices.
func (t *rootTable) indices(s rootSet) rootSet { return t.read(s, rootIndex) }

func (t *rootTable) read(s rootSet, kind rootKind) rootSet {
	return t.mapped(s, func(r root) (root, bool) {
		ok := r.kind == rootLoaded || r.kind == rootIndex
		r.kind = kind
		return r, ok
	})
}

func (t *rootTable) int() rootSet  { return t.intern([]rootID{intRoot}) }
func (t *rootTable) null() rootSet { return t.intern([]rootID{nullRoot}) }

// sum is the set of a+b and of its like, where neither is empty. A number adds
// no root to an address; only where both may be numbers may the sum be one.
func (t *rootTable) sum(a, b rootSet) rootSet {
	numbersA, addressesA := t.split(a)
	numbersB, addressesB := t.split(b)
	set := t.union(addressesA, addressesB)
	if numbersA == 0 || numbersB == 0 {
		return set
	}
	if numbersA == t.null() && numbersB == t.null() {
		return t.union(set, t.null())
	}
	return t.union(set, t.int())
}

// any reports whether f holds for one of the roots of s.
func (t *rootTable) any(s rootSet, f func(rootID) bool) bool {
	return slices.ContainsFunc(t.sets[s], f)
}
