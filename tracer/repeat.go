package tracer

import (
	"encoding/binary"
	"hash/maphash"

	"github.com/reprise-gpu/reprise/ir"
)

// made is a launch and its accesses. Neither changes once it is recorded, so
// operations share them.
type made struct {
	launch *ir.Launch
	uses   []ir.Access
}

// repeats finds earlier launches of a kernel with the same shape and arguments. The iterations of a program launch
// the same kernels on the same slices: a million operations then take the memory of those
// that differ, and the reach of each of these is computed once.
type repeats struct {
	known map[digest]int32 // index of the launch among those made
	over  bool             // the program does not repeat itself
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

// maxRepeats is how many launches of a kernel may differ before it is taken not to be launched
// again in the same way. It bounds the memory of the table to some 3 MB.
const maxRepeats = 1 << 16

// find returns the index of the launch with that shape and those values for arguments.
func (r *repeats) find(s Shape, values []ir.Arg, args []any) (m int32, ok bool) {
	if r.over {
		return 0, false
	}
	r.key = appendShape(r.key[:0], s)
	for i := range values {
		r.key = appendValue(r.key, &values[i], args[i])
	}
	r.last = digestOf(r.key)
	m, ok = r.known[r.last]
	return m, ok
}

// add keeps the launch that find did not find.
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

func appendShape(key []byte, s Shape) []byte {
	for _, n := range [...]uint32{s.Grid.X, s.Grid.Y, s.Grid.Z, s.Block.X, s.Block.Y, s.Block.Z, s.Shared} {
		key = binary.LittleEndian.AppendUint32(key, n)
	}
	return key
}

// appendValue appends all of an argument that a launch depends on; of a slice its
// end, too, since that bounds what is reached.
func appendValue(key []byte, v *ir.Arg, arg any) []byte {
	key = append(key, byte(v.Kind))
	switch v.Kind {
	case ir.ArgScalar:
		return binary.LittleEndian.AppendUint64(append(key, byte(v.Scalar.Type)), v.Scalar.Bits)
	case ir.ArgBuffer:
		key = binary.LittleEndian.AppendUint32(key, uint32(v.Buffer))
		key = binary.LittleEndian.AppendUint64(key, uint64(v.Offset))
		return binary.LittleEndian.AppendUint64(key, uint64(arg.(Buffer).hi))
	}
	return binary.LittleEndian.AppendUint32(key, uint32(v.Param))
}
