package sim

import (
	"hash/maphash"
	"slices"

	"github.com/reprise-gpu/reprise/internal/interp"
)

// Memo selects whether launches may reuse results.
type Memo uint8

const (
	MemoOn  Memo = iota // reuse the results of equal launches
	MemoOff             // interpret every launch
)

const (
	defaultMemoBytes = 512 << 20
	// entryOverhead is the size charged for an entry in addition to its bytes.
	entryOverhead = 256
	// maxFootprints bounds the sets of touched allocations stored per launch. A launch has more than one if its
	// control flow depends on data.
	maxFootprints = 4
	// maxShapes bounds the number of different launches stored.
	maxShapes = 1 << 16
	// maxSeen bounds the number of contents of a footprint that are noted before a result is stored.
	maxSeen = 4096
	// maxMisses is the number of consecutive misses of a launch after which most of its runs skip the memo, so that a
	// program whose data always change pays little. Hashing costs half as much as interpreting the cheapest of
	// kernels (8 MB touched: 1.8 ms and 3.2 ms). The limit is high because a solver that is run again repeats its
	// contents only after all its iterations.
	maxMisses = 256
	// maxPause is the maximum number of consecutive runs that skip the memo.
	maxPause = 256
)

// memo reuses the results of kernels. A kernel is a deterministic function of its launch and of the bytes in the
// allocations that it touches. If the allocations touched by an earlier equal launch have the same content again, the
// launch reads the same bytes, so it touches and writes the same. The memo then stores the recorded output and
// returns the recorded statistics, so that bytes and times equal those of a run.
//
// Contents are compared by 128-bit hashes: two 64-bit hashes with independent seeds. The hash of an allocation is
// cached until the allocation is written, and recorded with each output. A program that replays with unchanged input
// therefore neither hashes nor copies anything.
type memo struct {
	off    bool
	sample bool // sampled device: a content is identified by the time of the host's last write, and results have no outputs
	writes uint64
	hashed int64
	hits   int64
	seeds  [2]maphash.Seed
	known  map[uint64]digest // cached hashes of allocations, by address; absent after a change
	shapes map[shapeKey]*shape
	recent lru
}

// digest is a 128-bit hash.
type digest [2]uint64

// shapeKey is the part of a launch that does not depend on memory.
type shapeKey struct {
	kernel      *kernel
	grid, block [3]uint32
	shared      uint32
	cooperative bool
	params      digest
}

// shape is the state of all equal launches.
type shape struct {
	footprints []*footprint
	misses     int  // consecutive misses
	pause      int  // remaining runs to skip
	tried      bool // the present run missed, so its result may be stored
}

// footprint is a set of touched allocations, with the results by their content.
type footprint struct {
	touched []interp.Touch
	results map[digest]*entry
	seen    map[digest]struct{} // contents seen once
	before  digest              // content at the look-up that missed
}

// entry is one result.
type entry struct {
	stats        interp.Stats
	touched      []interp.Recorded // set if races are detected
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

// content returns the hash of an allocation. It returns false for memory that another process may write between
// hashing and launch, and for mapped memory, whose allocations may be large.
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
	if mem.Owns(base) { // other memory may be written unseen by the host or another device
		m.known[base] = h
	}
	return h, true
}

// allocation returns the bytes of an allocation, or nil if it was freed.
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

// shapeOf returns the shape of a job, or nil if the memo must not be used for it.
func (m *memo) shapeOf(j *job) *shape {
	if m.off || !j.kernel.code.Repeatable() || len(j.launch.Declared) > 0 { // a check of declared bytes needs a run
		return nil
	}
	if j.shape == nil {
		l := &j.launch
		key := shapeKey{j.kernel, l.Grid, l.Block, l.Shared, l.Cooperative, m.hash(l.Params)}
		if m.shapes[key] == nil {
			if len(m.shapes) == maxShapes {
				clear(m.shapes) // a changing scalar parameter makes every launch a new shape
			}
			m.shapes[key] = &shape{}
		}
		j.shape = m.shapes[key]
	}
	return j.shape
}

// lookup applies the result of an equal launch and returns its statistics. On a miss it notes the contents before the
// launch for store.
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

// apply writes the outputs of a result, except those already in place.
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

// store records the result of a run that lookup missed. The first run of a launch shows only which allocations it
// touches; their contents before a run are known from the second run on. A result is stored only if its input has
// been seen before. Storing all results would triple the cost of a launch whose input always changes.
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

// again notes the content before the run and reports whether it was seen before.
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

// skip reports whether this run skips the memo. After maxMisses consecutive misses the pauses grow exponentially, so
// that a launch whose input always changes is rarely hashed.
func (s *shape) skip() bool {
	if s.pause > 0 {
		s.pause--
		return true
	}
	if s.misses >= maxMisses {
		s.pause = min(maxPause, 1<<min(s.misses-maxMisses, 16))
	}
	return false
}

// contents hashes the hashes of the touched allocations. It returns false if content does for one of them.
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
