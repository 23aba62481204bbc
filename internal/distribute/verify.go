package distribute

import (
	"cmp"
	"fmt"
	"slices"
	"sort"

	"github.com/reprise-gpu/reprise/ir"
)

// Verify checks a plan and returns the first violation that it finds:
//
//   - Every byte that a chunk accesses has, on its device, the contents that it would have on one device.
//   - Accesses to the same bytes of a device, or of staging memory, one of which writes, are ordered by lanes, waits or exchanges.
//   - What ranks send is what others receive, and all ranks enter the exchanges in the same order, so that no two of them
//     wait for each other.
//   - All bytes are inside the memory of their device.
//   - Transfers move whole cells of the frames of buffers.
//
// It runs the rounds symbolically: each byte has a version, which is the run of the operation that wrote it. The repeated
// rounds are run twice, which covers all later runs. Verify shares no code with the functions that make plans, except for frames
// (frame.go). It works with places.
func Verify(p *Plan) error {
	v := newVerifier(p)
	for r := range p.Rounds {
		if err := v.round(r); err != nil {
			return err
		}
	}
	for r := p.Repeat; r < len(p.Rounds); r++ {
		if err := v.round(r); err != nil {
			return err
		}
	}
	return nil
}

// version identifies the contents of bytes: 0 for the initial ones, and the number of the run of the operation that wrote
// them.
type version int32

// undefined is the version of bytes that are not known to have been written.
const undefined version = -1

// stretch is bytes of one version.
type stretch struct {
	lo, hi int64
	is     version
}

// contents is the versions of the bytes of a buffer in one memory: ascending stretches that do not overlap. Bytes in no
// stretch are undefined.
type contents []stretch

// behind returns the index of the first stretch that ends behind a byte.
func (c contents) behind(at int64) int {
	return sort.Search(len(c), func(i int) bool { return c[i].hi > at })
}

// get returns the stretches that make up [lo, hi), ascending, with those that are undefined.
func (c contents) get(lo, hi int64) (list []stretch) {
	at := lo
	for i := c.behind(lo); i < len(c) && c[i].lo < hi; i++ {
		s := stretch{max(c[i].lo, lo), min(c[i].hi, hi), c[i].is}
		if s.lo > at {
			list = append(list, stretch{at, s.lo, undefined})
		}
		list = append(list, s)
		at = s.hi
	}
	if at < hi {
		list = append(list, stretch{at, hi, undefined})
	}
	return list
}

// set replaces the version of [lo, hi). The result is joined with the stretch before it if that has the same version.
func (c contents) set(lo, hi int64, is version) contents {
	if lo >= hi {
		return c
	}
	i := c.behind(lo)
	j := i + sort.Search(len(c)-i, func(k int) bool { return c[i+k].lo >= hi })
	var room [3]stretch
	with := room[:0]
	if i < j && c[i].lo < lo {
		with = append(with, stretch{c[i].lo, lo, c[i].is})
	} else if i > 0 && c[i-1].hi == lo && c[i-1].is == is {
		i--
		lo = c[i].lo
	}
	with = append(with, stretch{lo, hi, is})
	if i < j && c[j-1].hi > hi {
		with = append(with, stretch{hi, c[j-1].hi, c[j-1].is})
	}
	return slices.Replace(c, i, j, with...)
}

// verifier is the state of Verify.
type verifier struct {
	*Plan
	names   printer
	one     []contents   // by buffer: as on one device
	devices [][]contents // by device, buffer
	// accessed is the bytes that operations have accessed, by device and buffer. Their version is 0.
	accessed [][]contents
	staging  map[parcel]contents    // of the present round
	packed   map[parcel][]Span      // of the present round: what Outs have copied, of buffers with frames
	indices  [][]int32              // of the present round: by exchange, its Outs and Ins
	runs     version                // of operations so far
	first    []int32                // by device: the first lane of its rank
	clocks   [][]int32              // by instance: by lane of the rank, the number of its instances that end before
	latest   [][]int32              // by round and index of an operation: its latest instance, -1 for none
	count    []int32                // by lane: instances so far
	tails    []int32                // by lane: the latest instance, -1 for none
	lanes    []int32                // by instance
	numbers  []int32                // by instance: its number in its lane, from 1
	uses     map[[2]int32]*accesses // by device and buffer; of staging memory, see touch
}

// parcel is a part of an exchange or, with exchange -1, what the Out of an index has copied to staging memory.
type parcel struct {
	exchange, part int32
	buffer         ir.BufferID
}

// use is an access of an instance to memory of a device.
type use struct {
	lo, hi   int64
	instance int32
}

func newVerifier(p *Plan) *verifier {
	lanes := len(p.Layout.Devices) * int(Lanes)
	v := &verifier{
		Plan: p, names: printer{p: p}, count: make([]int32, lanes), tails: slices.Repeat([]int32{-1}, lanes), uses: map[[2]int32]*accesses{}, runs: 1,
	}
	for b := range p.Graph.Buffers {
		v.one = append(v.one, contents{{0, v.places(ir.BufferID(b)), 0}})
	}
	for d := range p.Layout.Devices {
		v.devices = append(v.devices, make([]contents, len(p.Graph.Buffers)))
		v.accessed = append(v.accessed, make([]contents, len(p.Graph.Buffers)))
		first := int32(d) * int32(Lanes)
		if d > 0 && p.Layout.Devices[d].Rank == p.Layout.Devices[d-1].Rank {
			first = v.first[d-1]
		}
		v.first = append(v.first, first)
	}
	for r := range p.Rounds {
		v.latest = append(v.latest, slices.Repeat([]int32{-1}, len(p.Rounds[r].Ops)))
	}
	return v
}

// round checks one run of a round.
func (v *verifier) round(r int) error {
	v.forget()
	round := &v.Rounds[r]
	v.staging, v.packed, v.indices = map[parcel]contents{}, map[parcel][]Span{}, make([][]int32, len(round.Exchanges))
	for i := range round.Ops {
		if op := &round.Ops[i]; (op.Kind == Out || op.Kind == In) && op.Exchange >= 0 {
			v.indices[op.Exchange] = append(v.indices[op.Exchange], int32(i))
		}
	}
	if err := v.loads(r); err != nil {
		return err
	}
	x := 0
	for i := range round.Ops {
		for ; x < len(round.Exchanges) && round.Exchanges[x].At <= i; x++ {
			if err := v.exchange(r, x); err != nil {
				return err
			}
		}
		op := &round.Ops[i]
		if op.Kind == Load {
			continue
		}
		if err := v.ordered(r, i); err != nil {
			return err
		}
		if err := v.op(r, i); err != nil {
			return err
		}
		if op.Kind == Run && (i+1 == len(round.Ops) || round.Ops[i+1].Kind != Run || round.Ops[i+1].Of != op.Of) {
			v.wrote(op.Of)
		}
	}
	return v.complete(r)
}

// forget makes the contents of temporary buffers equal everywhere, since no step reads those of an earlier one.
func (v *verifier) forget() {
	for b := range v.Graph.Buffers {
		buf := &v.Graph.Buffers[b]
		if buf.Role != ir.Temporary {
			continue
		}
		v.one[b] = contents{{0, v.places(ir.BufferID(b)), 0}}
		for d := range v.devices {
			v.devices[d][b] = slices.Clone(v.one[b])
		}
	}
}

// wrote records on the one device what an operation has written, after its last chunk.
func (v *verifier) wrote(of ir.OpID) {
	for i := range v.Decisions[of].Chunks {
		for _, a := range v.Decisions[of].Chunks[i].Accesses {
			if !a.Mode.Writes() {
				continue
			}
			for _, s := range v.placesOf(a) {
				v.one[a.Buffer] = v.one[a.Buffer].set(s.Lo, s.Hi, v.runs)
			}
		}
	}
	v.runs++
}

// complete checks that a round has run every chunk once.
func (v *verifier) complete(r int) error {
	seen := map[[2]int32]bool{}
	for i := range v.Rounds[r].Ops {
		if op := &v.Rounds[r].Ops[i]; op.Kind == Run {
			key := [2]int32{int32(op.Of), op.Chunk}
			if seen[key] {
				return v.fault(r, i, "the chunk has run already")
			}
			seen[key] = true
		}
	}
	for of := range v.Decisions {
		for c := range v.Decisions[of].Chunks {
			if !seen[[2]int32{int32(of), int32(c)}] {
				return fmt.Errorf("distribute: round %d does not run chunk %d of %v", r, c, ir.OpID(of))
			}
		}
	}
	return nil
}

// fault returns an error about an operation of the plan.
func (v *verifier) fault(r, i int, format string, args ...any) error {
	op := &v.Rounds[r].Ops[i]
	return fmt.Errorf("distribute: round %d, operation #%d on device %s: %s", r, i, v.names.device(op.Device), fmt.Sprintf(format, args...))
}

// op checks the contents that an operation reads, and records those that it writes.
func (v *verifier) op(r, i int) error {
	op := &v.Rounds[r].Ops[i]
	b := op.Bytes
	if op.Kind == Run {
		return v.chunk(r, i, op)
	}
	if err := v.inside(r, i, op); err != nil {
		return err
	}
	switch op.Kind {
	case Push:
		v.fill(op.Peer, b.Buffer, v.devices[op.Device][b.Buffer].get(b.Lo, b.Hi))
	case Out:
		at := v.parcel(i, op)
		v.staging[at] = append(v.staging[at], v.devices[op.Device][b.Buffer].get(b.Lo, b.Hi)...)
		if v.Frame(b.Buffer) != nil {
			v.packed[at] = append(v.packed[at], Span{b.Lo, b.Hi})
		}
	case In:
		list, err := v.arrived(r, i, op)
		if err != nil {
			return err
		}
		v.fill(op.Device, b.Buffer, list)
	}
	return nil
}

// inside checks that the bytes of an operation are in the memory of its devices.
func (v *verifier) inside(r, i int, op *Op) error {
	b := op.Bytes
	if !v.whole(b) {
		return v.fault(r, i, "%s cuts a cell of the frame", v.names.span(b))
	}
	for _, part := range v.Frame(b.Buffer).Boxes(b.Lo, b.Hi) {
		for _, d := range v.ends(op) {
			if m := v.Memory[d][b.Buffer]; part.Lo < m.Lo || part.Hi() > m.Hi {
				return v.fault(r, i, "%s is outside of the memory of device %s", v.names.span(b), v.names.device(d))
			}
		}
	}
	return nil
}

// whole reports whether a range of places begins and ends at borders of cells.
func (v *verifier) whole(r ir.Range) bool {
	f := v.Frame(r.Buffer)
	if f == nil {
		return true
	}
	for _, at := range [2]int64{r.Lo, r.Hi} {
		i := sort.Search(len(f.Rows), func(i int) bool { return f.Rows[i]*f.Pitch > at }) - 1
		if i < 0 || i == len(f.Rows)-1 && at != f.Rows[i]*f.Pitch {
			return false
		}
		if i == len(f.Rows)-1 {
			continue
		}
		inside, height := at-f.Rows[i]*f.Pitch, f.Rows[i+1]-f.Rows[i]
		if _, border := slices.BinarySearch(f.Cols, inside/height); !border || inside%height != 0 {
			return false
		}
	}
	return true
}

// places returns the number of places of a buffer.
func (v *verifier) places(b ir.BufferID) int64 {
	if f := v.Frame(b); f != nil {
		return f.Rows[len(f.Rows)-1] * f.Pitch
	}
	return v.Graph.Buffers[b].Size()
}

// placesOf returns the ranges of places of an access.
func (v *verifier) placesOf(a ir.Access) []Span { return v.Frame(a.Buffer).Places(v.Box(a)) }

// loads checks and records the loads of a round, which take place before it, beside operations of earlier rounds. Nothing
// may have accessed their bytes.
func (v *verifier) loads(r int) error {
	for i := range v.Rounds[r].Ops {
		op := &v.Rounds[r].Ops[i]
		if op.Kind != Load {
			continue
		}
		if err := v.inside(r, i, op); err != nil {
			return err
		}
		b := op.Bytes
		for _, s := range v.accessed[op.Device][b.Buffer].get(b.Lo, b.Hi) {
			if s.is != undefined {
				return v.fault(r, i, "bytes [%d:%d] of @%s were accessed or loaded before", s.lo, s.hi, v.Graph.Buffers[b.Buffer].Name)
			}
		}
		v.access(op.Device, b.Buffer, b.Lo, b.Hi)
		v.fill(op.Device, b.Buffer, []stretch{{b.Lo, b.Hi, 0}})
	}
	return nil
}

// access records an access to bytes of a device.
func (v *verifier) access(d int32, b ir.BufferID, lo, hi int64) {
	v.accessed[d][b] = v.accessed[d][b].set(lo, hi, 0)
}

// ends returns the devices whose memory an operation accesses.
func (v *verifier) ends(op *Op) []int32 {
	if op.Kind == Push {
		return []int32{op.Device, op.Peer}
	}
	return []int32{op.Device}
}

func (v *verifier) fill(d int32, b ir.BufferID, list []stretch) {
	for _, s := range list {
		v.devices[d][b] = v.devices[d][b].set(s.lo, s.hi, s.is)
	}
}

// chunk checks that all bytes of a chunk are those of the one device.
func (v *verifier) chunk(r, i int, op *Op) error {
	c := &v.Decisions[op.Of].Chunks[op.Chunk]
	for _, a := range c.Accesses {
		if m := v.Memory[op.Device][a.Buffer]; a.Lo < m.Lo || a.Hi > m.Hi {
			return v.fault(r, i, "bytes [%d:%d] of @%s are outside of the memory of the device", a.Lo, a.Hi, v.Graph.Buffers[a.Buffer].Name)
		}
		for _, s := range v.placesOf(a) {
			at := ir.Range{Buffer: a.Buffer, Lo: s.Lo, Hi: s.Hi}
			if lo, hi := stale(v.one[a.Buffer], v.devices[op.Device][a.Buffer], at, v.runs); lo < hi {
				at.Lo, at.Hi = lo, hi
				return v.fault(r, i, "%v accesses bytes of @%s, of which %s are stale", op.Of, v.Graph.Buffers[a.Buffer].Name, v.names.span(at))
			}
		}
	}
	for _, a := range c.Accesses {
		if !a.Mode.Writes() {
			continue
		}
		for _, s := range v.placesOf(a) {
			v.fill(op.Device, a.Buffer, []stretch{{s.Lo, s.Hi, v.runs}})
		}
	}
	return nil
}

// stale returns the first bytes of r that have another version on a device than they should have, and are not from the
// present operation.
func stale(want, have contents, r ir.Range, now version) (lo, hi int64) {
	w, h := want.behind(r.Lo), have.behind(r.Lo)
	for at := r.Lo; at < r.Hi; at = hi {
		is, end := have.version(h, at, r.Hi)
		should, last := want.version(w, at, r.Hi)
		hi = min(end, last)
		if is != should && is != now {
			return at, hi
		}
		if h < len(have) && have[h].hi <= hi {
			h++
		}
		if w < len(want) && want[w].hi <= hi {
			w++
		}
	}
	return r.Hi, r.Hi
}

// version returns the version of a byte and the end of the bytes of the same version, at most most. Stretch i is the first
// that ends behind the byte.
func (c contents) version(i int, at, most int64) (is version, end int64) {
	switch {
	case i == len(c):
		return undefined, most
	case c[i].lo > at:
		return undefined, min(c[i].lo, most)
	}
	return c[i].is, min(c[i].hi, most)
}

// parcel returns which staging memory an Out fills or an In reads.
func (v *verifier) parcel(i int, op *Op) parcel {
	part := op.Part
	if op.Exchange < 0 && op.Kind == Out {
		part = int32(i)
	}
	return parcel{op.Exchange, part, op.Bytes.Buffer}
}

// arrived returns what an In brings.
func (v *verifier) arrived(r, i int, op *Op) ([]stretch, error) {
	from := v.staging[v.parcel(i, op)]
	if v.Frame(op.Bytes.Buffer) != nil && !slices.Contains(v.packed[v.parcel(i, op)], Span{op.Bytes.Lo, op.Bytes.Hi}) {
		return nil, v.fault(r, i, "no transfer copies %s to staging memory as one piece", v.names.span(op.Bytes))
	}
	byOffset := func(a, b stretch) int { return cmp.Compare(a.lo, b.lo) }
	if !slices.IsSortedFunc(from, byOffset) {
		slices.SortFunc(from, byOffset)
	}
	var list []stretch
	at := op.Bytes.Lo
	for k := from.behind(at); k < len(from) && at < op.Bytes.Hi && from[k].lo <= at; k++ {
		s := stretch{at, min(from[k].hi, op.Bytes.Hi), from[k].is}
		list = append(list, s)
		at = s.hi
	}
	if at != op.Bytes.Hi {
		return nil, v.fault(r, i, "nothing is sent for byte %d of %s", at, v.names.span(op.Bytes))
	}
	return list, nil
}

// exchange checks that each part of an exchange is sent by its rank, before the exchange, and received by another.
func (v *verifier) exchange(r, x int) error {
	round := &v.Rounds[r]
	e := &round.Exchanges[x]
	if x > 0 && e.At < round.Exchanges[x-1].At {
		return fmt.Errorf("distribute: round %d: exchange %d is before exchange %d", r, x, x-1)
	}
	type sent struct {
		part, rank int32
		lo, hi     int64
	}
	var want, have []sent
	for i, part := range e.Parts {
		if part.To >= 0 {
			if part.From == part.To {
				return fmt.Errorf("distribute: round %d, exchange %d: part %d is from rank %d to itself", r, x, i, part.From)
			}
			want = append(want, sent{int32(i), part.From, part.Bytes.Lo, part.Bytes.Hi})
			continue
		}
		for _, p := range part.Pieces {
			want = append(want, sent{int32(i), p.Rank, p.Lo, p.Hi})
		}
	}
	for _, index := range v.indices[x] {
		i := int(index)
		op := &round.Ops[i]
		rank := v.Layout.Devices[op.Device].Rank
		part := &e.Parts[op.Part]
		switch {
		case (op.Kind == Out) != (i < e.At):
			return v.fault(r, i, "it is on the wrong side of exchange %d", x)
		case op.Kind == Out:
			have = append(have, sent{op.Part, rank, op.Bytes.Lo, op.Bytes.Hi})
		case part.To >= 0 && part.To != rank:
			return v.fault(r, i, "part %d of exchange %d is for rank %d", op.Part, x, part.To)
		}
	}
	order := func(a, b sent) int {
		return cmp.Or(cmp.Compare(a.part, b.part), cmp.Compare(a.lo, b.lo), cmp.Compare(a.rank, b.rank))
	}
	slices.SortFunc(want, order)
	slices.SortFunc(have, order)
	if !slices.Equal(want, have) {
		return fmt.Errorf("distribute: round %d, exchange %d: the messages are %v, and what is copied to staging memory is %v (part, rank, bytes)", r, x, want, have)
	}
	return nil
}

// ordered checks that an operation is ordered behind all earlier accesses that conflict with its own.
func (v *verifier) ordered(r, i int) error {
	op := &v.Rounds[r].Ops[i]
	if op.Kind == Push && v.first[op.Peer] != v.first[op.Device] {
		return v.fault(r, i, "it pushes to device %s, which is of another rank", v.names.device(op.Peer))
	}
	lane := op.Device*int32(Lanes) + int32(v.Lane(op))
	me := int32(len(v.clocks))
	clock, err := v.clock(r, i, lane)
	if err != nil {
		return err
	}
	v.clocks = append(v.clocks, clock)
	v.count[lane]++
	v.lanes, v.numbers = append(v.lanes, lane), append(v.numbers, v.count[lane])
	v.latest[r][i], v.tails[lane] = me, me
	for _, u := range v.touches(r, i, op) {
		if err := v.follows(r, i, me, u); err != nil {
			return err
		}
	}
	return nil
}

// accesses is the last accesses of a buffer on a device: for each byte its last write and, by lane of the rank, the last read since.
type accesses struct {
	writes uses
	reads  []uses
}

// follows checks that an access of the instance me is ordered behind the earlier ones of the same bytes, and records it
// instead of those that it stands for. A read of bytes that its lane has read since their last write is behind that read,
// which has been checked.
func (v *verifier) follows(r, i int, me int32, u touch) error {
	if u.lo >= u.hi {
		return nil
	}
	key := u.staging
	if !u.staged {
		v.access(u.device, u.buffer, u.lo, u.hi)
		key = [2]int32{u.device, int32(u.buffer)}
	}
	s := v.uses[key]
	if s == nil {
		s = &accesses{reads: make([]uses, len(v.clocks[me]))}
		v.uses[key] = s
	}
	if !u.writes {
		own := &s.reads[v.lanes[me]-v.first[u.device]]
		at := u.lo
		for _, a := range own.overlapping(u.lo, u.hi) {
			if err := v.behind(r, i, me, u, s.writes.overlapping(at, a.lo)); err != nil {
				return err
			}
			at = a.hi
		}
		own.write(use{u.lo, u.hi, me})
		return v.behind(r, i, me, u, s.writes.overlapping(at, u.hi))
	}
	if err := v.behind(r, i, me, u, s.writes.overlapping(u.lo, u.hi)); err != nil {
		return err
	}
	for lane := range s.reads {
		reads := &s.reads[lane]
		if err := v.behind(r, i, me, u, reads.overlapping(u.lo, u.hi)); err != nil {
			return err
		}
		reads.remove(u.lo, u.hi)
	}
	s.writes.write(use{u.lo, u.hi, me})
	return nil
}

// behind checks that an access is ordered behind those of a list, which overlap with it.
func (v *verifier) behind(r, i int, me int32, u touch, list []use) error {
	clock, first := v.clocks[me], v.first[u.device]
	for _, a := range list {
		lane := v.lanes[a.instance]
		if a.instance != me && clock[lane-first] < v.numbers[a.instance] {
			return v.fault(r, i, "it may run beside an operation of lane %d of device %s that accesses the same bytes [%d:%d] of @%s",
				lane%int32(Lanes), v.names.device(lane/int32(Lanes)), max(a.lo, u.lo), min(a.hi, u.hi), v.Graph.Buffers[u.buffer].Name)
		}
	}
	return nil
}

// uses is accesses without overlaps, ascending.
type uses []use

// overlapping returns the accesses to bytes of [lo, hi).
func (s uses) overlapping(lo, hi int64) []use {
	first, last := s.find(lo, hi)
	return s[first:last]
}

// find returns the indices of the accesses to bytes of [lo, hi). There are none if lo is not less than hi.
func (s uses) find(lo, hi int64) (first, last int) {
	if lo >= hi {
		return 0, 0
	}
	first = sort.Search(len(s), func(i int) bool { return s[i].hi > lo })
	last = first + sort.Search(len(s)-first, func(i int) bool { return s[first+i].lo >= hi })
	return first, last
}

// remove removes the bytes [lo, hi), which are not empty, and returns where the next access is inserted.
func (s *uses) remove(lo, hi int64) (at int) {
	first, last := s.find(lo, hi)
	if first == last {
		return first
	}
	var room [2]use
	rest := room[:0]
	if a := (*s)[first]; a.lo < lo {
		rest = append(rest, use{a.lo, lo, a.instance})
		at = 1
	}
	if a := (*s)[last-1]; a.hi > hi {
		rest = append(rest, use{hi, a.hi, a.instance})
	}
	*s = slices.Replace(*s, first, last, rest...)
	return first + at
}

// write replaces the accesses to the bytes of u.
func (s *uses) write(u use) { *s = slices.Insert(*s, s.remove(u.lo, u.hi), u) }

// clock returns, by lane of the rank, how many of its instances end before an operation begins.
func (v *verifier) clock(r, i int, lane int32) ([]int32, error) {
	op := &v.Rounds[r].Ops[i]
	first := v.first[op.Device]
	lo, hi := v.Layout.local(v.Layout.Devices[op.Device].Rank)
	clock := make([]int32, (hi-lo)*int32(Lanes))
	behind := func(u int32) {
		for l, n := range v.clocks[u] {
			clock[l] = max(clock[l], n)
		}
		at := v.lanes[u] - first
		clock[at] = max(clock[at], v.numbers[u])
	}
	if u := v.tails[lane]; u >= 0 {
		behind(u)
	}
	for _, w := range op.Waits {
		u := v.latest[w.Round][w.Op]
		if other := v.Rounds[w.Round].Ops[w.Op].Device; v.first[other] != first {
			return nil, v.fault(r, i, "it waits for an operation on device %s, which is of another rank", v.names.device(other))
		}
		if u >= 0 {
			behind(u)
		}
	}
	return clock, nil
}

// touch is bytes that an operation accesses on a device, or, if staged is set, of the staging memory of an Out that no exchange
// protects: staging is then less than 0, by round, and the index of the Out.
type touch struct {
	device  int32
	buffer  ir.BufferID
	lo, hi  int64
	writes  bool
	staged  bool
	staging [2]int32
}

// touches returns what an operation accesses.
func (v *verifier) touches(r, i int, op *Op) (list []touch) {
	b := op.Bytes
	if op.Exchange < 0 && (op.Kind == Out || op.Kind == In) {
		part := v.parcel(i, op).part
		list = append(list, touch{op.Device, b.Buffer, b.Lo, b.Hi, op.Kind == Out, true, [2]int32{-1 - int32(r), part}})
	}
	add := func(device int32, lo, hi int64, writes bool) {
		list = append(list, touch{device: device, buffer: b.Buffer, lo: lo, hi: hi, writes: writes})
	}
	switch op.Kind {
	case Run:
		for _, a := range v.Decisions[op.Of].Chunks[op.Chunk].Accesses {
			for _, s := range v.placesOf(a) {
				list = append(list, touch{device: op.Device, buffer: a.Buffer, lo: s.Lo, hi: s.Hi, writes: a.Mode.Writes()})
			}
		}
	case In:
		add(op.Device, b.Lo, b.Hi, true)
	case Push:
		add(op.Device, b.Lo, b.Hi, false)
		add(op.Peer, b.Lo, b.Hi, true)
	case Out:
		add(op.Device, b.Lo, b.Hi, false)
	}
	return list
}
