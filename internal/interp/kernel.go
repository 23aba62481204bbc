package interp

import (
	"fmt"
	"unsafe"

	"github.com/reprise-gpu/reprise/internal/ptx"
	"github.com/reprise-gpu/reprise/internal/unit"
)

// Kernel is a kernel lowered for one address space. Its fields do not change after compile,
// apart from run and backoff.
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

	unsupported *Fault // why the kernel cannot run, or nil
	ordered     bool   // blocks observe each other's progress, so they run in grid order
	sharesWork  bool   // blocks may distribute work by a counter
	sideEffects bool   // it reads a clock, prints or allocates, so its result is not only in memory
	spinLimit   int32  // backward branches per turn, 0 if lanes cannot wait for each other through memory
	asyncCopies bool   // has asynchronous copies
	stacks      bool   // lanes have call stacks
	warpSyncs   bool   // has warp-wide operations that wait
	shuffles    bool   // lanes read registers of other lanes

	code     []inst
	places   []place // by record of code
	segments []segment
	loops    []countedLoop
	work     []unit.Work // by segment: of one warp
	sites    int         // number of instructions that access memory

	// The register file of a warp: values that never change, that change with the
	// launch, that change with the block, and that the kernel writes.
	fileSize      int // bytes
	predCount     int
	scratch       slot // with warpSyncs: scratchSize bytes, and three predicates
	scratchPreds  slot
	constants     []constant
	paramRegs     []paramReg
	launchSpecial []specialReg
	blockSpecials []specialReg
	clearRegs     []element // may be read before they are written
	clearPreds    []slot

	run     run // state of the current launch, and buffers for the next
	backoff clashBackoff
}

// place is the origin of an instruction.
type place struct {
	pos ptx.Pos
	loc ptx.Loc
}

// Place is the origin of an instruction of a kernel.
type Place struct {
	File   string // PTX
	Line   int
	Source string // "kernel.cu:12", "" if the PTX does not contain it
}

// String returns "kernel.ptx:88 (kernel.cu:12)".
func (p Place) String() string {
	s := fmt.Sprintf("%s:%d", p.File, p.Line)
	if p.Source != "" {
		s += " (" + p.Source + ")"
	}
	return s
}

// Place returns the origin of an instruction by its index in a Record.
func (k *Kernel) Place(inst int) Place {
	at := k.places[inst]
	return Place{k.file, at.pos.Line, k.module.Source(at.loc)}
}

// Param is the position of a parameter in the parameter block, in bytes.
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
	offset, read int // position and size in the parameter block, in bytes
	signed       bool
}

// specialReg is a register that holds a special register.
type specialReg struct {
	at   slot
	size int
	kind special
}

// Name returns the kernel's name in the PTX.
func (k *Kernel) Name() string { return k.name }

// Params returns the parameters in order.
func (k *Kernel) Params() []Param { return k.params }

// ParamBytes returns the size of the parameter block.
func (k *Kernel) ParamBytes() int { return k.paramBytes }

// SharedStatic returns the static shared memory of a block, in bytes.
func (k *Kernel) SharedStatic() int { return int(k.sharedStatic) }

// LocalBytes returns the local memory of a thread in bytes, without the frames of
// calls.
func (k *Kernel) LocalBytes() int { return k.localSize }

// Repeatable reports whether the result of a launch is a function of its parameters and
// the memory it reads, and consists only of writes to memory.
func (k *Kernel) Repeatable() bool { return !k.sideEffects }

// Registers estimates the number of 32-bit registers of a thread by the largest number
// of values alive at one point. An assembler may need more or fewer.
func (k *Kernel) Registers() int { return k.registers }

// MaxThreads returns the largest block that .maxntid permits, 0 without one.
func (k *Kernel) MaxThreads() int {
	return int(k.maxThreads[0]) * int(k.maxThreads[1]) * int(k.maxThreads[2])
}

// prepare fills the registers that are constant during a launch: immediates if the warp's
// register file was of another kernel, parameters, and special registers.
func (w *warp) prepare(e *engine, index uint32) {
	w.reserve(e, index)
	k := w.kernel
	present := min(lanes, e.threads-index*lanes)
	w.present = uint32(uint64(1)<<present - 1)
	// Constants of the kernel remain in the register file from launch to launch.
	if fresh := w.ready != k; fresh {
		w.ready = k
		for _, c := range k.constants {
			if c.size == 0 {
				w.preds[c.at] = maskOf(c.bits != 0)
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

// widest rounds a number of live values up to a register count that an allocator would use.
func widest(live int) int {
	const reserved = 4 // addresses and temporaries of the assembler
	return min(max(live+reserved, 8), 255)
}
