package interp

import (
	"math"
	"math/bits"
	"unsafe"

	"github.com/reprise-gpu/reprise/internal/ptx"
)

// imageAccess describes a texture or surface instruction. The image itself is found at run
// time, by the handle in the instruction's operand.
type imageAccess struct {
	geometry string
	integer  bool // coordinates are texel indices
	gather   int  // the channel that tld4 gathers, or -1
	query    string
	clamp    string // of surfaces: trap, clamp or zero
	lanes    int    // of a surface access: the number of elements
	update   atomicFunc
}

// imageKinds contains, for each geometry, the number of coordinates, and whether the
// first one is a layer.
var imageKinds = map[string]struct {
	coords  int
	layered bool
	cube    bool
}{
	"1d": {1, false, false}, "2d": {2, false, false}, "3d": {3, false, false},
	"a1d": {2, true, false}, "a2d": {3, true, false}, "cube": {3, false, true}, "acube": {4, true, true},
}

// imageOperand resolves "[handle, {coordinates}]":
//
//	record   a         the handle: a 64-bit register, or the address of a reference
//	extra    sources   the coordinates, 32 bits each; the first is the layer of a1d, a2d and acube
//	         image     geometry, channel, query or clamp mode
//
// A cube has three coordinates, which are a direction.
func (l *lowering) imageOperand(r *inst, op *ptx.Operand, kind accessKind) error {
	r.x = newExtra()
	// -1 means that all channels are returned.
	r.x.image = &imageAccess{gather: -1}
	r.x.kind, r.x.space = kind, ptx.Global
	r.site = int32(l.k.sites)
	l.k.sites++
	var err error
	if r.a, err = l.imageHandle(op); err != nil {
		return err
	}
	switch len(op.Elems) {
	case 0:
		return nil
	case 1:
		return l.imageCoordinates(r, &op.Elems[0])
	}
	return l.fail("separate samplers are not supported")
}

// imageHandle returns the handle in a register, or that of a reference, which is the
// address of its variable.
func (l *lowering) imageHandle(op *ptx.Operand) (slot, error) {
	switch {
	case op.Kind == ptx.OpMem && op.Reg != ptx.NoReg:
		handle := ptx.Operand{Kind: ptx.OpReg, Reg: op.Reg, Reg2: ptx.NoReg}
		return l.source(&handle, 8, ptx.U64)
	case op.Kind == ptx.OpMem && op.Var != nil && op.Var.Handle != "":
		l.k.sideEffects = true // the binding of a reference is not a parameter: see Repeatable
		s, _, err := l.fixedAddress(op.Var, 0)
		return s, err
	}
	return noSlot, l.fail("a texture or surface must be given by a register with its handle, or by a reference of the module")
}

// imageCoordinates resolves the coordinates by the opcode's geometry. Extra elements of the
// vector are ignored.
func (l *lowering) imageCoordinates(r *inst, op *ptx.Operand) error {
	known := false
	for _, s := range l.in.Suffix {
		if _, ok := imageKinds[s]; ok {
			r.x.image.geometry, known = s, true
		}
	}
	coords := vector(op)
	kind := imageKinds[r.x.image.geometry]
	if !known || len(coords) < kind.coords {
		return l.fail("the geometry is not supported")
	}
	for i := range kind.coords {
		s, err := l.source(&coords[i], 4, ptx.B32)
		if err != nil {
			return err
		}
		r.x.sources = append(r.x.sources, element{s, 4})
	}
	return nil
}

// texture lowers tex, see "Texture Instructions" in the PTX ISA. Without mipmaps, a level
// of detail and gradients have no effect, so their operands are ignored.
func (l *lowering) texture() error {
	in := l.in
	list := types(in)
	if len(in.Args) < 2 || len(list) != 2 || list[0].Size() != 4 || list[0] == ptx.F16X2 {
		return l.fail("the interpreter cannot run this texture access")
	}
	extra := 2
	switch {
	case has(in, "level"):
		extra = 3
	case has(in, "grad"):
		extra = 4
	}
	if len(in.Args) > extra {
		return l.fail("offsets and depth comparison are not supported")
	}
	return l.sampleTexture(-1, list[1] == ptx.S32)
}

// gathered lowers tld4, which returns one channel of four texels.
func (l *lowering) gathered() error {
	in := l.in
	list := types(in)
	if len(in.Args) != 2 || len(list) != 2 || list[0].Size() != 4 || len(in.Suffix) == 0 {
		return l.fail("offsets and depth comparison are not supported")
	}
	channel := map[string]int{"r": 0, "g": 1, "b": 2, "a": 3}
	n, ok := channel[in.Suffix[0]]
	if !ok || !has(in, "2d") && !has(in, "a2d") {
		return l.fail("the interpreter cannot run this texture access")
	}
	return l.sampleTexture(n, false)
}

// sampleTexture lowers tex, or tld4 if gather is a channel. integer is set for coordinates
// that are texel indices.
func (l *lowering) sampleTexture(gather int, integer bool) error {
	in := l.in
	r := blank()
	if err := l.imageOperand(&r, &in.Args[1], loads); err != nil {
		return err
	}
	r.x.image.gather, r.x.image.integer = gather, integer
	dst := &in.Args[0]
	if dst.Reg2 != ptx.NoReg {
		return l.fail("residency of textures is not supported")
	}
	if len(r.x.sources) == 0 || len(vector(dst)) > 4 {
		return l.fail("needs coordinates and at most four destinations")
	}
	if err := l.elements(r.x, vector(dst), true, 4); err != nil {
		return err
	}
	r.exec = sampleLanes
	l.emit(r, costTexture)
	return nil
}

// texture returns the texture of a lane's handle, or nil after a fault.
func (w *warp) texture(in *inst, lane int) *Texture {
	handle := view[uint64](w, in.a)[lane]
	t, ok := w.eng.mem.images[handle].(*Texture)
	if !ok {
		w.fail(IllegalAddress, in, lane, handle, w.eng.mem.noImage(handle, "texture"))
	}
	return t
}

// sampleLanes samples the texture of each live lane.
func sampleLanes(w *warp, in *inst) {
	s := sampler{w: w, in: in}
	for m := w.live; m != 0 && w.fault == nil; m &= m - 1 {
		s.lane = bits.TrailingZeros32(m)
		if s.t = w.texture(in, s.lane); s.t == nil {
			return
		}
		s.layer()
		c := s.sample()
		for k, e := range in.x.elems {
			w.setLane(e, s.lane, uint64(c[k]))
		}
	}
	w.account(loads, s.sectors.count)
}

// sampler samples for one lane after the other.
type sampler struct {
	w       *warp
	in      *inst
	lane    int
	t       *Texture
	z       int // the layer
	coords  []element
	sectors sectorSet
}

// bits returns coordinate i of the current lane.
func (s *sampler) bits(i int) uint32 { return uint32(s.w.lane(s.coords[i], s.lane)) }

// float returns coordinate i of the current lane as a float.
func (s *sampler) float(i int) float32 { return math.Float32frombits(s.bits(i)) }

// layer removes the layer, if there is one, from the coordinates. A layer beyond the
// last is clamped.
func (s *sampler) layer() {
	s.coords, s.z = s.in.x.sources, 0
	if imageKinds[s.in.x.image.geometry].layered {
		layers := s.t.Layers
		if s.t.Cube {
			layers /= 6
		}
		s.z = int(min(uint64(s.bits(0)), uint64(max(layers, 1)-1)))
		s.coords = s.coords[1:]
	}
}

// sample reads the texel at integer coordinates, or finds the taps of each
// coordinate and interpolates between them. A direction into a cube is first mapped
// to a face and a position on it.
func (s *sampler) sample() texel {
	image := s.in.x.image
	if image.integer {
		return s.fetch()
	}
	// A copy, whose address modes a cube or an integer access replaces.
	t := *s.t
	var taps [3]tap
	if imageKinds[image.geometry].cube {
		f, x, y := face(s.float(0), s.float(1), s.float(2))
		s.z = 6*s.z + f
		t.Normalized, t.Address = true, [3]AddressMode{AddressClamp, AddressClamp, AddressClamp}
		taps[0], taps[1] = t.tap(x, 0, t.Width, t.Linear), t.tap(y, 1, t.Height, t.Linear)
	} else {
		linear := t.Linear || image.gather >= 0
		for k, n := range [3]int{t.Width, t.Height, t.Depth} {
			if k < len(s.coords) {
				taps[k] = t.tap(s.float(k), k, max(n, 1), linear)
			}
		}
	}
	if image.gather >= 0 {
		return s.gather(&t, &taps)
	}
	return s.blend(&t, &taps)
}

// fetch returns the texel at integer coordinates.
func (s *sampler) fetch() texel {
	t := *s.t
	t.Normalized = false
	var index [3]int
	for k := range s.coords {
		index[k] = int(int32(s.bits(k)))
	}
	if t.Plain && (index[0] < 0 || index[0] >= t.Width) {
		return texel{3: s.oneValue(&t)}
	}
	return s.convert(&t, s.load(&t, index))
}

// blend interpolates between the texels at the taps: linear in one dimension, bilinear in
// two, trilinear in three. Corners of weight 0 are not read.
func (s *sampler) blend(t *Texture, taps *[3]tap) texel {
	if taps[0].weight == 0 && taps[1].weight == 0 && taps[2].weight == 0 {
		return s.convert(t, s.load(t, [3]int{taps[0].index[0], taps[1].index[0], taps[2].index[0]}))
	}
	var sum [4]float64
	// Bit k of corner selects the texel in dimension k. Absent dimensions have weight 0 on
	// the second texel.
	for corner := range 8 {
		weight, index := 1.0, [3]int{}
		for k := range taps {
			side := corner >> k & 1
			index[k] = taps[k].index[side]
			if side == 1 {
				weight *= taps[k].weight
			} else {
				weight *= 1 - taps[k].weight
			}
		}
		if weight == 0 {
			continue
		}
		c := s.convert(t, s.load(t, index))
		for k := range sum {
			sum[k] += weight * float64(math.Float32frombits(c[k]))
		}
	}
	var out texel
	for k := range sum {
		out[k] = math.Float32bits(float32(sum[k]))
	}
	return out
}

// gather returns one channel of the four texels around a point, counter-clockwise from
// the lower left.
func (s *sampler) gather(t *Texture, taps *[3]tap) (out texel) {
	// The order of the results is defined by tld4.
	for k, side := range [4][2]int{{0, 1}, {1, 1}, {1, 0}, {0, 0}} {
		c := s.convert(t, s.load(t, [3]int{taps[0].index[side[0]], taps[1].index[side[1]]}))
		out[k] = c[s.in.x.image.gather]
	}
	return out
}

// load reads a texel. Outside the image it returns the border or another texel, by the
// address mode.
func (s *sampler) load(t *Texture, index [3]int) (stored texel) {
	z := s.z
	for k, n := range [3]int{t.Width, t.Height, t.Depth} {
		var ok bool
		if index[k], ok = edge(t.mode(k), index[k], max(n, 1)); !ok {
			return t.outside()
		}
	}
	if t.Depth > 0 {
		z = index[2]
	}
	size := t.texelBytes()
	addr := t.at(index[0], index[1], z)
	p := s.w.span(s.in, addr, uint64(size), s.lane)
	if p == nil {
		return stored
	}
	s.sectors.add(addr, uint64(size))
	for k := range t.Channels {
		stored[k] = t.Format.channel(readCell(unsafe.Add(p, k*t.Format.bytes()), t.Format.bytes()))
	}
	return stored
}

// convert converts stored channels to the values that the kernel reads. A missing
// fourth channel reads as one.
func (s *sampler) convert(t *Texture, c texel) texel {
	if t.ReadNormalized && !t.Format.float() {
		for k := range t.Channels {
			c[k] = math.Float32bits(t.Format.normalize(c[k]))
		}
	}
	if t.Channels < 4 {
		c[3] = s.oneValue(t)
	}
	return c
}

// oneValue returns the bits of 1 in the type that the texture returns.
func (s *sampler) oneValue(t *Texture) uint32 {
	if t.floats() {
		return math.Float32bits(1)
	}
	return 1
}

// span returns the host address of n bytes at addr, for instructions that make several
// accesses per lane.
func (w *warp) span(in *inst, addr, n uint64, lane int) unsafe.Pointer {
	if v := w.eng.watch; v != nil && in.x.isGlobal(addr) {
		v.global(w, in, addr, n, lane)
	}
	if v := w.eng.tile; v != nil {
		v.accessLane(w, in, lane, addr, n, v.stamp(w, in))
	}
	return w.locate(in, addr, n, lane)
}

// imageQuery lowers txq and suq.
func (l *lowering) imageQuery() error {
	in := l.in
	if len(in.Args) != 2 || len(in.Suffix) == 0 {
		return l.fail("needs a destination and a handle")
	}
	r := blank()
	if err := l.imageOperand(&r, &in.Args[1], loads); err != nil {
		return err
	}
	r.x.image.query = in.Suffix[0]
	switch r.x.image.query {
	case "width", "height", "depth", "array_size", "normalized_coords", "num_mipmap_levels":
	default:
		return l.fail("the query .%s is not supported", r.x.image.query)
	}
	var err error
	if r.d, err = l.dest(&in.Args[0], 4); err != nil {
		return err
	}
	r.exec = queryLanes
	l.emit(r, costTexture)
	return nil
}

// queryLanes returns a property of the texture or surface of each live lane.
func queryLanes(w *warp, in *inst) {
	d := view[uint32](w, in.d)
	each(w.live, func(i int) {
		handle := view[uint64](w, in.a)[i]
		switch v := w.eng.mem.images[handle].(type) {
		case *Texture:
			d[i] = v.query(in.x.image.query)
		case *Image:
			d[i] = (&Texture{Image: *v}).query(in.x.image.query)
		default:
			w.fail(IllegalAddress, in, i, handle, w.eng.mem.noImage(handle, "texture or surface"))
		}
	})
}

// query returns a property by its name in txq.
func (t *Texture) query(what string) uint32 {
	switch what {
	case "width":
		return uint32(t.Width)
	case "height":
		return uint32(t.Height)
	case "depth":
		return uint32(t.Depth)
	case "array_size":
		return uint32(t.Layers)
	case "normalized_coords":
		if t.Normalized {
			return 1
		}
		return 0
	}
	return 1 // num_mipmap_levels
}
