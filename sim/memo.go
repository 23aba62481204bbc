package sim

import (
	"hash/maphash"
	"slices"

	"github.com/reprise-gpu/reprise/sim/interp"
)

// Memo says whether launches may reuse results.
type Memo uint8

const (
	MemoOn  Memo = iota // reuse the results of equal launches
	MemoOff             // interpret every launch
)

const (
	defaultMemoBytes = 512 << 20
	// entryOverhead is charged for an entry beside its bytes.
	entryOverhead = 256
	// maxFootprints is how many sets of touched allocations are remembered for one
	// launch. More than one occurs when control flow depends on data.
	maxFootprints = 4
	// maxShapes bounds how many different launches are remembered.
	maxShapes = 1 << 16
	// maxSeen bounds how many contents of a footprint are noted before a result of
	// any is kept.
	maxSeen = 4096
	// patience is how many misses in a row a launch is granted before most of its
	// runs skip the memo: a program whose data always change should pay little.
	// Hashing costs half of what interpreting the cheapest of kernels does (8 MB
	// touched: 1.8 ms beside 3.2 ms), but a solver that is run again repeats its
	// contents only after all its iterations.
	patience = 256
	// maxPause is the longest series of runs skipped.
	maxPause = 256
)

// memo reuses what kernels did. A kernel is a deterministic function of its
// launch and of the bytes in the allocations it touches: if those it touched the
// last time hold the same bytes again, it reads the same, so it touches the
// same and writes the same. Then the recorded output is put in place and the
// recorded statistics are used, so that bytes and times are those of a run.
//
// Contents are compared by 128-bit hashes, two independently seeded 64-bit
// ones. The hash of an allocation is kept until something writes to it, and
// recorded with each output, so that a program that replays with unchanged
// input neither hashes nor copies anything.
type memo struct {
	off    bool
	sample bool // contents are told apart by when the host wrote them, and results have no outputs
	writes uint64
	hashed int64
	hits   int64
	seeds  [2]maphash.Seed
	known  map[uint64]digest // of allocations, by address; absent when changed
	shapes map[shapeKey]*shape
	recent lru
}

// digest is a 128-bit hash.
type digest [2]uint64

// shapeKey is all of a launch that does not depend on memory.
type shapeKey struct {
	kernel      *kernel
	grid, block [3]uint32
	shared      uint32
	cooperative bool
	params      digest
}

// shape is what is known of equal launches.
type shape struct {
	footprints []*footprint
	misses     int  // in a row
	pause      int  // runs to skip
	tried      bool // the run under way missed: its result may be stored
}

// footprint is a set of touched allocations, with the results by their content.
type footprint struct {
	touched []interp.Touch
	results map[digest]*entry
	seen    map[digest]struct{} // contents met once
	before  digest              // content at the look-up that missed, for store
}

// entry is one result.
type entry struct {
	stats        interp.Stats
	touched      []interp.Recorded // when races are looked for
	outputs      []output
	size         int64
	of           *footprint
	key          digest
	older, newer *entry
}

// output is the content of a written allocation.
type output struct {
	base uint64
	data []byte
	hash digest
}

func newMemo(mode Memo, limit int64, sample bool) *memo {
	return &memo{
		off: mode == MemoOff, sample: sample, recent: lru{limit: limit},
		seeds: [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()},
		known: map[uint64]digest{}, shapes: map[shapeKey]*shape{},
	}
}

func (m *memo) hash(b []byte) digest {
	m.hashed += int64(len(b))
	return digest{maphash.Bytes(m.seeds[0], b), maphash.Bytes(m.seeds[1], b)}
}

// content is the hash of an allocation's bytes. It returns false for memory that another process
// may write to between the hash and the launch, and for mapped memory, whose runs may be large.
func (m *memo) content(mem *interp.Memory, base uint64) (digest, bool) {
	if h, ok := m.known[base]; ok {
		return h, true
	}
	if mem.Shared(base) {
		return digest{}, false
	}
	if m.sample {
		m.writes++
		m.known[base] = digest{m.writes}
		return m.known[base], true
	}
	var bytes []byte
	if mem.Reaches(base) {
		bytes = allocation(mem, base)
	}
	h := m.hash(bytes)
	if mem.Owns(base) { // the host, or another device, may write to the rest unseen
		m.known[base] = h
	}
	return h, true
}

// allocation is all bytes of one, nil when it has been freed.
func allocation(mem *interp.Memory, base uint64) []byte {
	_, size, ok := mem.Base(base)
	if !ok {
		return nil
	}
	b, err := mem.Bytes(base, size)
	if err != nil {
		panic("BUG: an allocation's own extent is refused: " + err.Error())
	}
	return b
}

// forget drops the hash of an allocation that was written or freed.
func (m *memo) forget(base uint64) { delete(m.known, base) }

// shapeOf finds the shape of a job, nil when the memo must not be used for it.
func (m *memo) shapeOf(j *job) *shape {
	if m.off || !j.kernel.code.Repeatable() {
		return nil
	}
	if j.shape == nil {
		l := &j.launch
		key := shapeKey{j.kernel, l.Grid, l.Block, l.Shared, l.Cooperative, m.hash(l.Params)}
		if m.shapes[key] == nil {
			if len(m.shapes) == maxShapes {
				clear(m.shapes) // a parameter that counts up makes every launch new
			}
			m.shapes[key] = &shape{}
		}
		j.shape = m.shapes[key]
	}
	return j.shape
}

// lookup puts the result of an equal launch in place and returns its
// statistics. On a miss it notes the contents before the launch for store.
func (m *memo) lookup(d *Device, j *job) (interp.Stats, []interp.Recorded, bool) {
	s := m.shapeOf(j)
	if s == nil || s.skip() {
		return interp.Stats{}, nil, false
	}
	for _, f := range s.footprints {
		var ok bool
		if f.before, ok = m.contents(d.memory, f.touched); !ok {
			return interp.Stats{}, nil, false
		}
		if e := f.results[f.before]; e != nil && d.races.reuse(e.touched) {
			m.apply(d, e)
			s.misses = 0
			m.hits++
			return e.stats, e.touched, true
		}
	}
	s.misses++
	s.tried = true
	return interp.Stats{}, nil, false
}

// apply puts a result in place, where it is not there already.
func (m *memo) apply(d *Device, e *entry) {
	mem := d.memory
	for _, o := range e.outputs {
		if h, ok := m.known[o.base]; ok && h == o.hash {
			continue
		}
		copy(allocation(mem, o.base), o.data)
		if mem.Owns(o.base) {
			m.known[o.base] = o.hash
		} else {
			d.changed(o.base)
		}
	}
	m.recent.use(e)
}

// store records the result of a run that lookup missed. The first run of a
// launch only tells which allocations it touches; what they held before is
// known from the second on. A result is kept when its input is met again:
// keeping every one would triple the cost of a launch whose input always
// changes, for memory to be written that is never read.
func (m *memo) store(d *Device, j *job, stats *interp.Stats) {
	for _, t := range stats.Touched {
		if t.Written {
			d.computed(t.Base)
		}
	}
	s := j.shape
	if s == nil || !s.tried {
		return
	}
	s.tried = false
	if slices.ContainsFunc(stats.Touched, func(t interp.Touch) bool { return d.memory.Shared(t.Base) }) {
		return
	}
	i := slices.IndexFunc(s.footprints, func(f *footprint) bool { return slices.Equal(f.touched, stats.Touched) })
	if i < 0 {
		f := &footprint{touched: slices.Clone(stats.Touched), results: map[digest]*entry{}, seen: map[digest]struct{}{}}
		s.footprints = append(s.footprints, f)
		if len(s.footprints) > maxFootprints {
			s.footprints = s.footprints[1:]
		}
		if m.sample { // the contents are those before the run
			f.before, _ = m.contents(d.memory, f.touched)
			m.record(d, f, stats)
		}
		return
	}
	if f := s.footprints[i]; m.sample || f.again() {
		m.record(d, f, stats)
	}
}

// again notes the content before the run and reports whether it was met before.
func (f *footprint) again() bool {
	if _, ok := f.seen[f.before]; ok {
		delete(f.seen, f.before)
		return true
	}
	if len(f.seen) == maxSeen {
		clear(f.seen)
	}
	f.seen[f.before] = struct{}{}
	return false
}

func (m *memo) record(d *Device, f *footprint, stats *interp.Stats) {
	mem := d.memory
	e := &entry{stats: *stats, of: f, key: f.before, size: entryOverhead}
	if d.races != nil {
		e.touched = slices.Clone(d.races.record.Allocations)
	}
	for _, t := range f.touched {
		if t.Written && !m.sample {
			e.size += int64(len(allocation(mem, t.Base)))
		}
	}
	e.stats.Touched, e.stats.Extents = f.touched, slices.Clone(stats.Extents)
	if f.results[e.key] != nil || !m.recent.makeRoom(e.size) {
		return
	}
	for _, t := range f.touched {
		if t.Written && !m.sample {
			data := slices.Clone(allocation(mem, t.Base))
			hash, _ := m.content(mem, t.Base)
			e.outputs = append(e.outputs, output{t.Base, data, hash})
		}
	}
	f.results[e.key] = e
	m.recent.add(e)
}

func (m *memo) report(c *Counters) {
	c.MemoHits, c.MemoHashed, c.MemoBytes, c.MemoEntries = m.hits, m.hashed, m.recent.bytes, m.recent.count
}

// skip reports whether this run should not try the memo. After patience misses
// the pauses grow, so that a launch whose input always changes is hashed rarely.
func (s *shape) skip() bool {
	if s.pause > 0 {
		s.pause--
		return true
	}
	if s.misses >= patience {
		s.pause = min(maxPause, 1<<min(s.misses-patience, 16))
	}
	return false
}

// contents hashes the hashes of the touched allocations. It returns false if one of them has none.
func (m *memo) contents(mem *interp.Memory, touched []interp.Touch) (digest, bool) {
	var h0, h1 maphash.Hash
	h0.SetSeed(m.seeds[0])
	h1.SetSeed(m.seeds[1])
	for _, t := range touched {
		c, ok := m.content(mem, t.Base)
		if !ok {
			return digest{}, false
		}
		var b [16]byte
		for i := range 8 {
			b[i], b[8+i] = byte(c[0]>>(8*i)), byte(c[1]>>(8*i))
		}
		_, _ = h0.Write(b[:])
		_, _ = h1.Write(b[:])
	}
	return digest{h0.Sum64(), h1.Sum64()}, true
}
