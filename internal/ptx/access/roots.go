package access

import (
	"slices"

	"github.com/reprise-gpu/reprise/internal/ptx"
)

// rootKind classifies the origin of a value that may be an address.
type rootKind uint8

// The kinds of roots, with examples of values:
//
//	rootParam       ld.param.u64 %rd1, [x]          rootParamAddr   mov.u64 %rd1, x
//	rootSymbol      mov.u64 %rd1, table             rootShared      mov.u64 %rd1, tile
//	rootLoaded      ld.global.u64 %rd1, [%rd2]      rootInt         mul.wide.s32 %rd1, %r1, 4
//	rootOffset      shl.b64 %rd2, %rd1, 2, where %rd1 is a parameter
const (
	rootInt       rootKind = iota // the result of arithmetic: an offset if the set has an address, too
	rootNull                      // a constant
	rootParam                     // the value of a kernel parameter, or of eight bytes of one
	rootOffset                    // a number computed from a kernel parameter that may turn out to be an address
	rootParamAddr                 // the address of a kernel parameter
	rootSymbol                    // the address of a module variable in .global or .const
	rootShared                    // an address in shared memory
	rootLocal                     // an address in local memory
	rootHidden                    // device heap, workspace of a cooperative launch
	rootLoaded                    // a 64-bit value read from memory
	rootUnknown                   // the result of an instruction or call that is not analysed
	rootIndex                     // a 64-bit value read from memory that was added to a pointer
	rootMinus                     // a mark: an address, or a parameter that may be one, was subtracted
)

// root is one origin of a value. Fields that the kind does not use are zero.
type root struct {
	kind  rootKind
	param int      // index of the kernel's parameter
	field int      // byte offset in the parameter, -1 if it is not known
	v     *ptx.Var // of rootSymbol
	pos   ptx.Pos  // of rootLoaded, rootUnknown and rootIndex: the instruction; zero beyond maxSources
}

// rootID is an index into rootTable.roots.
type rootID int32

// rootSet is the number of an interned set of roots. Set 0 is empty: no definition of the
// register was seen yet.
type rootSet int32

// rootTable interns roots and sets of roots. A kernel has a handful of roots
// but tens of thousands of registers, most of them with equal sets. Sets are
// therefore numbers, they are compared in constant time, and unions are
// memoized.
type rootTable struct {
	roots []root
	ids   map[root]rootID
	sets  [][]rootID // by rootSet, each sorted
	index map[string]rootSet
	memo  map[[2]rootSet]rootSet

	sources [rootUnknown + 1]int
}

// intRoot and nullRoot are not addresses. They come first in every set, since sets are
// sorted.
const (
	intRoot rootID = iota
	nullRoot
)

// newRootTable returns a table with the empty set and the two roots that are not addresses.
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

// id interns a root.
func (t *rootTable) id(r root) rootID {
	id, ok := t.ids[r]
	if !ok {
		id = rootID(len(t.roots))
		t.ids[r] = id
		t.roots = append(t.roots, r)
	}
	return id
}

// maxSources bounds the roots of kinds that every instruction may add one of.
// Without a bound, sets of thousands of roots would take quadratic space.
const maxSources = 64

// source returns the set of a value that the instruction at pos loaded, or of a result
// that is not analysed. Beyond maxSources, the instructions share one root without a
// position.
func (t *rootTable) source(kind rootKind, pos ptx.Pos) rootSet {
	r := root{kind: kind, pos: pos}
	if _, ok := t.ids[r]; !ok && t.sources[kind] == maxSources {
		r.pos = ptx.Pos{}
	} else if !ok {
		t.sources[kind]++
	}
	return t.single(r)
}

// single returns the set of one root.
func (t *rootTable) single(r root) rootSet { return t.intern([]rootID{t.id(r)}) }

// intern returns the number of a sorted list of roots.
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

// union returns the set of the roots of a and b. It is memoized by the unordered pair of
// sets.
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

// split divides a set into its numbers and its addresses.
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

// mapped applies f to each root of s. It returns the set of the results, without those for
// which f returns false.
func (t *rootTable) mapped(s rootSet, f func(root) (root, bool)) rootSet {
	out := rootSet(0)
	for _, id := range t.sets[s] {
		if r, ok := f(t.roots[id]); ok {
			out = t.union(out, t.single(r))
		}
	}
	return out
}

// offsets returns the parameters of s, as numbers.
func (t *rootTable) offsets(s rootSet) rootSet {
	return t.mapped(s, func(r root) (root, bool) {
		ok := r.kind == rootParam || r.kind == rootOffset
		r.kind = rootOffset
		return r, ok
	})
}

// negated returns the set of -s: parameters become numbers, and rootMinus marks
// that something was subtracted that may be an address.
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

// minus returns the mark of a subtraction.
func (t *rootTable) minus() rootSet { return t.single(root{kind: rootMinus}) }

// subtracted reports whether the computation of s subtracted a possible
// address.
func (t *rootTable) subtracted(s rootSet) bool {
	return t.any(s, func(id rootID) bool { return t.roots[id].kind == rootMinus })
}

// mayBeAddress reports whether s has a root that can be an address alone. Constants, offsets and
// indices cannot: they require an address to which they are added.
func (t *rootTable) mayBeAddress(s rootSet) bool {
	return t.any(s, func(id rootID) bool {
		switch t.roots[id].kind {
		case rootNull, rootOffset, rootIndex, rootMinus:
			return false
		}
		return true
	})
}

// loaded returns the values of s that were read from memory, as addresses.
func (t *rootTable) loaded(s rootSet) rootSet { return t.read(s, rootLoaded) }

// indices returns the values of s that were read from memory, as indices.
func (t *rootTable) indices(s rootSet) rootSet { return t.read(s, rootIndex) }

// read returns the values of s that were read from memory, as roots of the
// given kind.
func (t *rootTable) read(s rootSet, kind rootKind) rootSet {
	return t.mapped(s, func(r root) (root, bool) {
		ok := r.kind == rootLoaded || r.kind == rootIndex
		r.kind = kind
		return r, ok
	})
}

// int returns the set of a computed number.
func (t *rootTable) int() rootSet { return t.intern([]rootID{intRoot}) }

// null returns the set of a constant.
func (t *rootTable) null() rootSet { return t.intern([]rootID{nullRoot}) }

// sum returns the set of a+b, or of another operation on both; neither is
// empty. A number adds no root to an address. The sum may be a number only if
// both operands may be.
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

// any reports whether f holds for some root of s.
func (t *rootTable) any(s rootSet, f func(rootID) bool) bool {
	return slices.ContainsFunc(t.sets[s], f)
}
