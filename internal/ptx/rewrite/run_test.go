package rewrite

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/internal/interp"
	"github.com/reprise-gpu/reprise/internal/ptx"
	"github.com/reprise-gpu/reprise/internal/ptx/access"
)

// The kernels run on the interpreter with arguments that are made up. A launch that faults is
// tried again with others: it says nothing about a rewrite.

const (
	bufferBytes = 1 << 14 // pointers lead to the middle
	stepLimit   = 20000   // warp instructions of a block
)

// machine is memory with buffers whose addresses and contents follow from the seed alone.
type machine struct {
	t       testing.TB
	memory  *interp.Memory
	buffers []uint64
	modules map[*ptx.Module]*interp.Module
}

func newMachine(t testing.TB, seed uint64, buffers int) *machine {
	m := &machine{t: t, memory: interp.NewMemory(1 << 26), modules: map[*ptx.Module]*interp.Module{}}
	rng := rand.New(rand.NewPCG(seed, 1))
	for i := range buffers {
		addr, err := m.memory.Alloc(bufferBytes, fmt.Sprintf("buffer %d", i))
		require.NoError(t, err)
		fill(m.bytes(addr, bufferBytes), rng)
		m.buffers = append(m.buffers, addr)
	}
	return m
}

// fill writes small integers, floats from -1 to 1, or seldom nothing: locks are free when zero.
func fill(data []byte, rng *rand.Rand) {
	if rng.IntN(8) == 0 {
		return
	}
	floats := rng.IntN(2) == 0
	for k := 0; k < len(data); k += 8 {
		word := rng.Uint64()
		for i := range 2 {
			w := uint32(word >> (32 * i))
			if floats {
				w = math.Float32bits(float32(int32(w)) / (1 << 31))
			} else {
				w %= 32
			}
			binary.LittleEndian.PutUint32(data[k+4*i:], w)
		}
	}
}

func (m *machine) bytes(addr uint64, n int64) []byte {
	data, err := m.memory.Bytes(addr, n)
	require.NoError(m.t, err)
	return data
}

// alloc copies data to new memory.
func (m *machine) alloc(data []byte) uint64 {
	addr, err := m.memory.Alloc(int64(max(len(data), 1)), "table")
	require.NoError(m.t, err)
	copy(m.bytes(addr, int64(max(len(data), 1))), data)
	return addr
}

// rows writes the row of each instance at an offset into memory of its own, and returns a list of the addresses.
func (m *machine) rows(t *Table, instances [][]byte, offset int) (list []byte) {
	for i := range instances {
		row := make([]byte, offset+t.Stride)
		require.NoError(m.t, t.PutRow(row[offset:], 0, instances[i]))
		list = binary.LittleEndian.AppendUint64(list, m.alloc(row))
	}
	return list
}

// contents returns the bytes of all buffers.
func (m *machine) contents() (list [][]byte) {
	for _, b := range m.buffers {
		list = append(list, m.bytes(b, bufferBytes))
	}
	return list
}

// run launches a kernel. The error is a fault of the launch.
func (m *machine) run(tree *ptx.Module, kernel string, l interp.Launch) (interp.Stats, error) {
	code := m.modules[tree]
	if code == nil {
		var err error
		if code, err = interp.LoadModule(m.memory, tree); err != nil {
			return interp.Stats{}, err
		}
		m.modules[tree] = code
	}
	k, err := code.Kernel(kernel)
	require.NoError(m.t, err)
	l.StepLimit, l.Workers = stepLimit, 1
	stats, fault := k.Run(m.memory, l)
	if fault != nil {
		return stats, fault
	}
	return stats, nil
}

// launchShape is the extents of a launch of a kernel.
type launchShape struct {
	grid, block [3]uint32
	shared      uint32
}

// launch returns a launch with a parameter block.
func (s launchShape) launch(params []byte) interp.Launch {
	return interp.Launch{Grid: s.grid, Block: s.block, Shared: s.shared, Params: params}
}

// shape makes up a launch of a kernel.
func (k corpusKernel) shape(rng *rand.Rand) launchShape {
	used := specials(k.module.Funcs)
	s := launchShape{[3]uint32{uint32(1 + rng.IntN(7)), 1, 1}, k.block, k.shared}
	for i := 1; i < 3; i++ {
		if used["%ctaid"+axes[i]] || used["%nctaid"+axes[i]] || rng.IntN(4) == 0 {
			s.grid[i] = uint32(1 + rng.IntN(3))
		}
	}
	if s.block[0] == 0 {
		s.block = [3]uint32{uint32(32 * (1 + rng.IntN(4))), 1, 1}
		if used["%tid.y"] || used["%ntid.y"] {
			s.block = [3]uint32{16, uint32(4 + 4*rng.IntN(4)), 1}
			if k.static() { // a tile that is read by columns is defined in a square block only
				s.block[1] = 16
			}
		}
	}
	for i := range s.block {
		s.block[i] = max(s.block[i], 1)
	}
	if k.kernel.ReqThreads[0] > 0 {
		s.block = k.kernel.ReqThreads
	}
	if s.shared == 0 && k.dynamic() {
		s.shared = 4096
	}
	return s
}

// dynamic reports whether a kernel uses dynamic shared memory.
func (k corpusKernel) dynamic() bool {
	return slices.ContainsFunc(k.module.Vars, func(v *ptx.Var) bool { return v.Space == ptx.Shared && v.Extern })
}

// static reports whether a kernel's module has shared memory of fixed size.
func (k corpusKernel) static() bool {
	inBody := func(f *ptx.Func) bool { return slices.ContainsFunc(f.Vars, isShared) }
	return slices.ContainsFunc(k.module.Vars, isShared) || slices.ContainsFunc(k.module.Funcs, inBody)
}

func isShared(v *ptx.Var) bool { return v.Space == ptx.Shared && !v.Extern }

// params makes up a parameter block: pointers into buffers, and small numbers.
func (k corpusKernel) params(rng *rand.Rand, buffers []uint64) []byte {
	block := make([]byte, k.kernel.ParamBytes()+8)
	n := uint64(1 + rng.IntN(200))
	for _, v := range k.kernel.Params {
		for at := v.Offset; at < v.Offset+int(v.Size()); at += min(8, max(v.Type.Size(), 4)) {
			word := n
			if rng.IntN(3) == 0 {
				word = uint64(1 + rng.IntN(8))
			}
			switch v.Type {
			case ptx.F32:
				word = uint64(math.Float32bits(2*rng.Float32() - 1))
			case ptx.F64:
				word = math.Float64bits(2*rng.Float64() - 1)
			}
			put(block[at:], word, min(8, v.Size()-int64(at-v.Offset)))
		}
	}
	next := rng.IntN(len(buffers))
	for _, p := range access.Infer(k.module, k.kernel).Params {
		if v := k.kernel.Params[p.Param]; p.Field >= 0 && p.Access != access.None && v.Size() >= int64(p.Field)+8 {
			put(block[v.Offset+p.Field:], buffers[next%len(buffers)]+bufferBytes/2, 8)
			next++
		}
	}
	return block[:k.kernel.ParamBytes()]
}

// put writes the low n bytes of a word.
func put(to []byte, word uint64, n int64) {
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], word)
	copy(to[:min(n, int64(len(to)))], b[:])
}

// block lays out a parameter block of a rewritten kernel. extra returns the values of added
// parameters by index.
func (r *Result) block(originals []*ptx.Func, blocks [][]byte, extra func(i int, o Origin) uint64) []byte {
	f := r.Module.Func(r.Kernel)
	block := make([]byte, f.ParamBytes())
	for i, o := range r.Params {
		v := f.Params[i]
		if o.Kind != Argument {
			put(block[v.Offset:], extra(i, o), v.Size())
			continue
		}
		part := max(o.Part, 0)
		from := originals[part].Params[o.Param]
		copy(block[v.Offset:v.Offset+int(v.Size())], blocks[part][from.Offset:])
	}
	return block
}
