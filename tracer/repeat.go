package tracer

import (
	"encoding/binary"

	"github.com/reprise-gpu/reprise/ir"
)

// made is a launch and what it accesses. Nobody writes to either once it is recorded, so
// operations share them.
type made struct {
	launch *ir.Launch
	uses   []ir.Access
}

// repeats finds the launches of a kernel that a program makes again. Iterations launch
// the same kernels on the same slices: a million operations then take the memory of those
// that differ, and no computing of what each of them reaches.
type repeats struct {
	known map[string]int32 // by key: its index among those made
	over  bool             // the program does not repeat itself
	key   []byte           // of the launch at hand
}

// maxRepeats is how many launches of a kernel may differ before it is taken not to be launched
// again in the same way: it bounds what is kept for nothing, to some 20 MB.
const maxRepeats = 1 << 16

// find looks for a launch with that shape and those values for arguments.
func (r *repeats) find(s Shape, values []ir.Arg, args []any) (m int32, ok bool) {
	if r.over {
		return 0, false
	}
	r.key = appendShape(r.key[:0], s)
	for i := range values {
		r.key = appendValue(r.key, &values[i], args[i])
	}
	m, ok = r.known[string(r.key)]
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
		r.known = map[string]int32{}
	}
	r.known[string(r.key)] = m
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
