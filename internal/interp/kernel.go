package interp

import (
	"fmt"
	"unsafe"

	"github.com/reprise-gpu/reprise/device/unit"
	"github.com/reprise-gpu/reprise/internal/ptx"
)

// Kernel is a kernel lowered for one address space.
type Kernel struct {
	name       string
	file       string
	module     *ptx.Module
	params     []Param
	paramBytes int
	maxThreads [3]uint32
	reqThreads [3]uint32

	sharedStatic uint32
	localSize    int // bytes per thread, without the frames of routines
	routines     []*routine
	framePointer slot
	registers    int

	unsupported *Fault // why the kernel cannot run, nil when it can
	ordered     bool   // blocks see each other's progress, so they run in grid order
	shares      bool   // blocks may share work out by a counter
	effects     bool   // reads a clock, prints or allocates: what it does is not all in memory
	spinLimit   int32  // backward branches in a turn, 0 when lanes cannot wait for each other through memory
	groups      bool   // copies asynchronously
	stacks      bool   // lanes have call stacks
	meets       bool   // has warp-wide operations that wait
	shuffles    bool   // lanes read registers of other lanes

	code     []inst
	places   []place // of code
	segments []segment
	loops    []backLoop
	work     []unit.Work // of one warp in each segment
	sites    int         // instructions that access memory

	// The register file of a warp: what never changes, what changes with the
	// launch, with the block, and what the kernel writes.
	fileSize      int // bytes
	predCount     int
	scratch       slot // with meets: scratchSize bytes, and three predicates
	scratchPreds  slot
	constants     []constant
	paramRegs     []paramReg
	launchSpecial []specialReg
	blockSpecials []specialReg
	clearRegs     []element // may be read before they are written
	clearPreds    []slot

	run  run
	calm calm
}

// place is where an instruction is from.
type place struct {
	pos ptx.Pos
	loc ptx.Loc
}

// Place is where an instruction of a kernel is from.
type Place struct {
	File   string // PTX
	Line   int
	Source string // "kernel.cu:12", "" when the PTX does not tell
}

func (p Place) String() string {
	s := fmt.Sprintf("%s:%d", p.File, p.Line)
	if p.Source != "" {
		s += " (" + p.Source + ")"
	}
	return s
}

// Place tells of an instruction by the index that a Record has for it.
func (k *Kernel) Place(inst int) Place {
	at := k.places[inst]
	return Place{k.file, at.pos.Line, k.module.Source(at.loc)}
}

// Param is a parameter's place in the parameter block, in bytes.
type Param struct {
	Name         string
	Offset, Size int
}

// constant is a register that holds an immediate.
type constant struct {
	at   slot
	size int // 0 for a predicate
	bits uint64
}

// paramReg is a register that holds a kernel parameter.
type paramReg struct {
	at           slot
	size         int // of the register
	offset, read int // bytes of the parameter block
	signed       bool
}

type specialReg struct {
	at   slot
	size int
	kind special
}

// Name is the kernel's name in the PTX.
func (k *Kernel) Name() string { return k.name }

// Params lists the parameters in order.
func (k *Kernel) Params() []Param { return k.params }

// ParamBytes is the size of the parameter block.
func (k *Kernel) ParamBytes() int { return k.paramBytes }

// SharedStatic is the static shared memory of a block, in bytes.
func (k *Kernel) SharedStatic() int { return int(k.sharedStatic) }

// LocalBytes is the local memory of a thread, without what calls take.
func (k *Kernel) LocalBytes() int { return k.localSize }

// Repeatable reports whether a launch is a function of its parameters and of
// the memory it reads, and does nothing but write memory.
func (k *Kernel) Repeatable() bool { return !k.effects }

// Registers estimates how many 32-bit registers a thread needs, from the
// largest number of values alive at one point; a real assembler may need more
// or fewer.
func (k *Kernel) Registers() int { return k.registers }

// MaxThreads is the largest block the kernel declares in .maxntid, 0 without one.
func (k *Kernel) MaxThreads() int {
	return int(k.maxThreads[0]) * int(k.maxThreads[1]) * int(k.maxThreads[2])
}

// prepare fills what stays the same during a launch.
func (w *warp) prepare(e *engine, index uint32) {
	w.reserve(e, index)
	k := w.kernel
	present := min(lanes, e.threads-index*lanes)
	w.present = uint32(uint64(1)<<present - 1)
	if fresh := w.ready != k; fresh {
		w.ready = k
		for _, c := range k.constants {
			if c.size == 0 {
				w.preds[c.at] = spread(c.bits != 0)
				continue
			}
			fill(w, c.at, c.size, c.bits)
		}
	}
	for _, p := range k.paramRegs {
		v := readCell(unsafe.Add(e.params, p.offset), p.read)
		if p.signed {
			v = signExtend(v, p.read, true)
		}
		fill(w, p.at, p.size, v)
	}
	for _, s := range k.launchSpecial {
		for i := range uint32(lanes) {
			w.setLane(element{s.at, s.size}, int(i), uint64(s.kind.launchValue(w, i)))
		}
	}
}

// widest rounds up to a register count that an allocator would use.
func widest(live int) int {
	const reserved = 4 // addresses and temporaries of the assembler
	return min(max(live+reserved, 8), 255)
}
