package interp

import (
	"iter"
	"math/bits"
	"slices"
	"sort"
)

// Record tells what a launch touched in global memory, byte by byte, but for
// what kernels took from malloc, which is theirs alone. A launch
// that is given one fills it; the previous content is lost, its memory is used
// again. What a launch that faulted leaves has no meaning.
type Record struct {
	// Allocations are those the launch touched, by address.
	Allocations []Recorded
	// Races asks for races within blocks, too, which takes longer.
	Races bool
	// Hazards are accesses that a GPU promises no result for, in the order of the code.
	Hazards []Hazard

	workers []*watcher
	used    int // of the workers
}

// Recorded is what a launch touched of one allocation. Spans are sorted,
// disjoint and not adjacent.
type Recorded struct {
	Base uint64
	// Read holds the bytes that plain loads read, Exposed those of them, and of the
	// bytes of atomic operations, that the launch had not written before: what
	// its result depends on. Written holds the bytes of plain stores.
	Read, Exposed, Written []Span
	// Atomic holds the bytes of atomic operations, by kind.
	Atomic []AtomicSpans
	// Sites are the instructions that did so, in the order of the code, each with
	// the smallest range that holds what it touched.
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
	Inst   int  // what Kernel.Place takes
	Stores bool // a store or an atomic operation
	Atomic bool
	Range  Span
}

// watcher is what an engine marks its accesses in. Engines whose blocks run
// side by side have one each: none reads what another writes, so what is exposed
// does not depend on them. Engines whose blocks take turns share one.
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

// finish turns what the engines marked into spans.
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

// release lets go of what was marked.
func (r *Record) release() {
	for _, v := range r.workers[:r.used] {
		v.release()
	}
	r.used = 0
}

// touchedWord is what a launch did to 64 neighbouring bytes, one bit for each.
type touchedWord struct{ read, exposed, written, atomic uint64 }

// stretchWords are the words that share a bit of marks.stretches, those of 4 KiB.
const stretchWords = 64

// marks is what one engine touched of one allocation.
type marks struct {
	of        *allocation
	words     []touchedWord
	stretches bitmap // of words, those that are not all zero
	atomics   []atomicMarks
	sites     []siteRange
}

type atomicMarks struct {
	kind  string
	bytes bitmap
}

// siteRange is where in an allocation an instruction, a record of the kernel,
// accessed it: byte offsets.
type siteRange struct {
	inst   int
	kind   accessKind
	lo, hi uint64
}

// newMarks has room for that many words.
func newMarks(words int) *marks {
	stretches := (words + stretchWords - 1) / stretchWords
	return &marks{words: make([]touchedWord, words), stretches: make(bitmap, bitmapWords(uint64(stretches)))}
}

func (m *marks) reset(a *allocation) {
	m.of, m.words = a, m.words[:bitmapWords(a.size)]
	m.atomics, m.sites = m.atomics[:0], m.sites[:0]
}

// wipe zeroes what was marked, and nothing else: a launch on small parts of a
// large allocation, as that of a sample of its blocks, should cost little.
func (m *marks) wipe() {
	for first, end := range m.touched() {
		clear(m.words[first:end])
	}
	clear(m.stretches)
	m.of = nil
}

// touched are the words, first up to end, of each stretch that was touched, in order.
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

// mark notes an access to bytes lo up to hi.
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

// atomic is the bitmap of one kind of atomic operation.
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
