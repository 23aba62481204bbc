package tracer

import (
	"encoding/binary"
	"hash/maphash"

	"github.com/reprise-gpu/reprise/ir"
)

// made is a launch and its accesses. Neither changes once it is recorded, so equal operations share them.
type made struct {
	launch *ir.Launch
	uses   []ir.Access
}

// repeats finds earlier launches of a kernel with the same shape and arguments. The iterations of a
// program launch the same kernels on the same slices. With sharing, memory and the computation of reach
// are proportional to the number of different launches, not to the length of the trace.
type repeats struct {
	known map[digest]int32 // by key: index in Tracer.made
	over  bool             // maxRepeats launches differed: the table is dropped and find reports nothing
	key   []byte           // of the launch that find was last called with
	last  digest           // of key
}

// digest is a 128-bit hash of a key. Keys themselves are not kept: a lookup would then miss the cache for each.
// Among maxRepeats keys two have the same digest with a probability of 2^-97.
type digest [2]uint64

// seeds are random, so that no program has keys that collide on every run.
var seeds = [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()}

func digestOf(key []byte) digest {
	return digest{maphash.Bytes(seeds[0], key), maphash.Bytes(seeds[1], key)}
}

// maxRepeats is the capacity of the table of a kernel, in launches. A kernel with more different launches
// is assumed not to repeat any. It bounds the memory of the table to about 3 MB.
const maxRepeats = 1 << 16

// find returns the index in Tracer.made of an earlier launch with this shape and these arguments.
func (r *repeats) find(s Shape, values []ir.Arg, args []any, maps []ir.Map) (m int32, ok bool) {
	if r.over {
		return 0, false
	}
	r.key = appendShape(r.key[:0], s)
	for i := range values {
		r.key = appendValue(r.key, &values[i], args[i])
	}
	for i := range maps {
		r.key = appendMap(r.key, &maps[i])
	}
	r.last = digestOf(r.key)
	m, ok = r.known[r.last]
	return m, ok
}

// add stores index m for the launch that the last call of find has not found.
func (r *repeats) add(m int32) {
	switch {
	case r.over:
		return
	case len(r.known) == maxRepeats:
		*r = repeats{over: true}
		return
	case r.known == nil:
		r.known = map[digest]int32{}
	}
	r.known[r.last] = m
}

// appendShape appends the launch configuration to a key.
func appendShape(key []byte, s Shape) []byte {
	for _, n := range [...]uint32{s.Grid.X, s.Grid.Y, s.Grid.Z, s.Block.X, s.Block.Y, s.Block.Z, s.Shared} {
		key = binary.LittleEndian.AppendUint32(key, n)
	}
	return key
}

// appendMap appends a declaration to a key.
func appendMap(key []byte, m *ir.Map) []byte {
	for _, n := range [...]int64{int64(m.Arg), m.Size, m.Step, m.Before, m.After} {
		key = binary.LittleEndian.AppendUint64(key, uint64(n))
	}
	return key
}

// appendValue appends to a key all that a launch depends on in an argument. For a slice that includes its
// end, which bounds the reach.
func appendValue(key []byte, v *ir.Arg, arg any) []byte {
	key = append(key, byte(v.Kind))
	switch v.Kind {
	case ir.ArgScalar:
		return binary.LittleEndian.AppendUint64(append(key, byte(v.Scalar.Type)), v.Scalar.Bits)
	case ir.ArgBuffer:
		key = binary.LittleEndian.AppendUint32(key, uint32(v.Buffer))
		key = binary.LittleEndian.AppendUint64(key, uint64(v.Offset))
		return binary.LittleEndian.AppendUint64(key, uint64(bufferOf(arg).hi))
	}
	return binary.LittleEndian.AppendUint32(key, uint32(v.Param))
}
