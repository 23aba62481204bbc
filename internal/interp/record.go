package interp

import (
	"iter"
	"math/bits"
	"slices"
	"sort"
)

// Record describes what a launch touched in global memory, byte by byte. Memory that
// kernels allocate by malloc is excluded, since no other code uses it. A launch that is
// given a Record overwrites it and reuses its memory. After a fault its contents are
// undefined.
type Record struct {
	// Allocations are those the launch touched, by address.
	Allocations []Recorded
	// Races enables the detection of races within blocks, which takes longer.
	Races bool
	// Hazards are accesses with undefined results on a GPU, in the order of the code.
	Hazards []Hazard

	workers []*watcher
	used    int // of the workers
}

// Recorded describes what a launch touched of one allocation. Spans are sorted,
// disjoint and not adjacent.
type Recorded struct {
	Base uint64
	// Read contains the bytes that plain loads read. Exposed contains those of them, and of
	// the bytes of atomic operations, that the launch had not written before: its result
	// depends on them. Written contains the bytes of plain stores.
	Read, Exposed, Written []Span
	// Atomic contains the bytes of atomic operations, by kind.
	Atomic []AtomicSpans
	// Sites are the instructions that made the accesses, in the order of the code, each
	// with the smallest range that contains its accesses.
	Sites []Site
}

// AtomicSpans are the bytes that atomic operations of one kind touched. A kind
// is the operation and its type, "add.f32".
type AtomicSpans struct {
	Kind  string
	Spans []Span
}

// Site is an instruction that accessed an allocation.
type Site struct {
	Inst   int  // an argument for Kernel.Place
	Stores bool // a store or an atomic operation
	Atomic bool
	Range  Span
}

// watcher returns the marks for an engine. Engines with concurrent blocks have one
// each: none reads what another writes, so Exposed does not depend on the others.
// Engines whose blocks take turns share one.
func (r *Record) watcher(k *Kernel, own bool) *watcher {
	if own || r.used == 0 {
		if r.used == len(r.workers) {
			r.workers = append(r.workers, &watcher{marksOf: map[*allocation]*marks{}})
		}
		r.workers[r.used].prepare(k)
		r.used++
	}
	return r.workers[r.used-1]
}

// finish converts the marks of the engines to spans.
func (r *Record) finish() {
	r.Allocations = r.Allocations[:0]
	all := r.workers[:r.used]
	for _, v := range all {
		v.flush()
	}
	for _, v := range all[1:] {
		all[0].merge(v)
	}
	slices.SortFunc(all[0].marks, func(a, b *marks) int {
		if a.of.base < b.of.base {
			return -1
		}
		return 1
	})
	for _, m := range all[0].marks {
		if m.of.base == workspaceAddress || m.of.heap {
			continue
		}
		r.Allocations = append(r.Allocations, m.recorded())
	}
	r.Hazards = r.hazards(all)
	r.release()
}

// release drops the marks.
func (r *Record) release() {
	for _, v := range r.workers[:r.used] {
		v.release()
	}
	r.used = 0
}

// touchedWord has one bit for each of 64 adjacent bytes.
type touchedWord struct{ read, exposed, written, atomic uint64 }

// stretchWords is the number of words that share a bit of marks.stretches, 4 KiB of
// memory.
const stretchWords = 64

// marks contains the bytes of one allocation that one engine touched, with one bit per byte
// for each kind of access. stretches has one bit per 4 KiB, so that wiping, merging and
// converting cost time only for the parts that were touched.
type marks struct {
	of        *allocation
	words     []touchedWord
	stretches bitmap // of words, those that are not all zero
	atomics   []atomicMarks
	sites     []siteRange
}

// atomicMarks are the bytes of one kind of atomic operation.
type atomicMarks struct {
	kind  string
	bytes bitmap
}

// siteRange is the range of byte offsets in an allocation that an instruction accessed.
type siteRange struct {
	inst   int
	kind   accessKind
	lo, hi uint64
}

// newMarks allocates marks for the given number of words.
func newMarks(words int) *marks {
	stretches := (words + stretchWords - 1) / stretchWords
	return &marks{words: make([]touchedWord, words), stretches: make(bitmap, bitmapWords(uint64(stretches)))}
}

// reset prepares wiped marks for an allocation.
func (m *marks) reset(a *allocation) {
	m.of, m.words = a, m.words[:bitmapWords(a.size)]
	m.atomics, m.sites = m.atomics[:0], m.sites[:0]
}

// wipe zeroes only what was marked: a launch that touches small parts of a large
// allocation, such as a sample of its blocks, must be cheap.
func (m *marks) wipe() {
	for first, end := range m.touched() {
		clear(m.words[first:end])
	}
	clear(m.stretches)
	m.of = nil
}

// touched returns the words [first, end) of each stretch that was touched, in order.
func (m *marks) touched() iter.Seq2[int, int] {
	return func(yield func(first, end int) bool) {
		for i, set := range m.stretches {
			for ; set != 0; set &= set - 1 {
				first := (i*64 + bits.TrailingZeros64(set)) * stretchWords
				if !yield(first, min(first+stretchWords, len(m.words))) {
					return
				}
			}
		}
	}
}

// mark records an access to bytes [lo, hi).
func (m *marks) mark(kind accessKind, lo, hi uint64) {
	const stretch = 64 * stretchWords // bytes
	m.stretches.set(lo/stretch, (hi-1)/stretch+1)
	switch kind {
	case loads:
		eachWord(lo, hi, func(i, bits uint64) {
			w := &m.words[i]
			w.read |= bits
			w.exposed |= bits &^ (w.written | w.atomic)
		})
	case stores:
		eachWord(lo, hi, func(i, bits uint64) { m.words[i].written |= bits })
	default:
		eachWord(lo, hi, func(i, bits uint64) {
			w := &m.words[i]
			w.exposed |= bits &^ (w.written | w.atomic)
			w.atomic |= bits
		})
	}
}

// atomic returns the bitmap of one kind of atomic operation.
func (m *marks) atomic(kind string) bitmap {
	for i := range m.atomics {
		if m.atomics[i].kind == kind {
			return m.atomics[i].bytes
		}
	}
	n := len(m.atomics)
	m.atomics = slices.Grow(m.atomics, 1)[:n+1]
	b := m.atomics[n].bytes // of an earlier launch
	if cap(b) < len(m.words) {
		b = make(bitmap, len(m.words))
	}
	b = b[:len(m.words)]
	clear(b)
	m.atomics[n] = atomicMarks{kind, b}
	return b
}

// site extends the range of an instruction.
func (m *marks) site(in int, kind accessKind, lo, hi uint64) {
	for i := range m.sites {
		if s := &m.sites[i]; s.inst == in {
			s.lo, s.hi = min(s.lo, lo), max(s.hi, hi)
			return
		}
	}
	m.sites = append(m.sites, siteRange{in, kind, lo, hi})
}

// merge adds what another engine touched.
func (m *marks) merge(o *marks) {
	for first, end := range o.touched() {
		for i := first; i < end; i++ {
			w, v := &m.words[i], &o.words[i]
			w.read |= v.read
			w.exposed |= v.exposed
			w.written |= v.written
			w.atomic |= v.atomic
		}
	}
	for i, set := range o.stretches {
		m.stretches[i] |= set
	}
	for _, a := range o.atomics {
		b := m.atomic(a.kind)
		for i, v := range a.bytes {
			b[i] |= v
		}
	}
	for _, s := range o.sites {
		m.site(s.inst, s.kind, s.lo, s.hi)
	}
}

// recorded converts the bitmaps to spans. The cost is linear in the touched
// stretches.
func (m *marks) recorded() Recorded {
	base := m.of.base
	of := func(word func(i int) uint64) (all []Span) {
		for first, end := range m.touched() {
			all = spans(all, base, first, end, word)
		}
		return all
	}
	r := Recorded{
		Base:    base,
		Read:    of(func(i int) uint64 { return m.words[i].read }),
		Exposed: of(func(i int) uint64 { return m.words[i].exposed }),
		Written: of(func(i int) uint64 { return m.words[i].written }),
	}
	for _, a := range m.atomics {
		r.Atomic = append(r.Atomic, AtomicSpans{a.kind, of(func(i int) uint64 { return a.bytes[i] })})
	}
	sort.Slice(r.Atomic, func(i, j int) bool { return r.Atomic[i].Kind < r.Atomic[j].Kind })
	sort.Slice(m.sites, func(i, j int) bool { return m.sites[i].inst < m.sites[j].inst })
	for _, s := range m.sites {
		r.Sites = append(r.Sites, Site{
			Inst: s.inst, Stores: s.kind != loads, Atomic: s.kind == updates,
			Range: Span{base + s.lo, base + s.hi},
		})
	}
	return r
}
