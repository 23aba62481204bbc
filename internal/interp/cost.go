package interp

import (
	"strings"

	"github.com/reprise-gpu/reprise/internal/ptx"
	"github.com/reprise-gpu/reprise/internal/unit"
)

// cost is the cost of one warp instruction of PTX: the machine instructions that it
// becomes, by the unit that executes them, and the cycles until its result is
// available. The throughput of a unit depends on the device and is not part of it. The
// latencies are those of Volta, from which Ampere and Hopper differ by a few cycles
// (Jia et al., "Dissecting the NVIDIA Volta GPU Architecture via Microbenchmarking",
// 2018). The number of machine instructions is what ptxas emits for compute capability
// 7.0 and later. Where it exceeds one, it is an estimate.
type cost struct {
	work    unit.Work
	latency int64
	trip    bool  // also waits for a round trip to global memory
	flops   int64 // floating-point operations of a lane
	fuses   fusing
}

// nominalTrip is the round trip to global memory that the search for critical paths
// assumes, in cycles. The device model replaces it by its own figure.
const nominalTrip = 500

// on returns the cost of a number of instructions on one unit, with a latency in cycles.
func on(u unit.Unit, insts float64, latency int64) cost {
	c := cost{latency: latency}
	c.work[u] = insts
	return c
}

// and adds instructions on another unit.
func (c cost) and(u unit.Unit, insts float64) cost {
	c.work[u] += insts
	return c
}

// withFlops sets the floating-point operations of a lane.
func (c cost) withFlops(n int64) cost {
	c.flops = n
	return c
}

// withTrip adds a round trip to global memory.
func (c cost) withTrip() cost {
	c.trip = true
	return c
}

// The costs of instructions: instructions on a unit, and cycles until the result.
var (
	costFree    = cost{} // resolved when the kernel is lowered, or by the assembler's choice of registers
	costALU     = on(unit.Integer, 1, 4)
	costALU64   = on(unit.Integer, 2, 6) // two 32-bit halves with a carry
	costMul     = on(unit.Multiply, 1, 5)
	costMul64   = on(unit.Multiply, 3, 12).and(unit.Integer, 1)
	costFloat   = on(unit.FP32, 1, 4)
	costDouble  = on(unit.FP64, 1, 8)
	costHalf    = on(unit.FP16, 1, 6)
	costConvert = on(unit.Convert, 1, 14)
	costWiden   = on(unit.Convert64, 1, 18)
	costBits    = on(unit.Bits, 1, 14)
	costSpecial = on(unit.Special, 1, 18).and(unit.FP32, 1) // plus the scaling of subnormals

	// Divisions and roots are short sequences around an approximation.
	costDivide      = on(unit.FP32, 8, 45).and(unit.Special, 1).and(unit.Integer, 1)
	costDivideFast  = on(unit.FP32, 2, 26).and(unit.Special, 1)
	costDivide64    = on(unit.FP64, 9, 110).and(unit.Special, 1).and(unit.Integer, 4)
	costDivideInt   = on(unit.Integer, 10, 80).and(unit.Multiply, 4).and(unit.Special, 1).and(unit.Convert, 2)
	costDivideInt64 = on(unit.Integer, 50, 300).and(unit.Multiply, 20).and(unit.Special, 1).and(unit.Convert64, 2)

	// A memory instruction counts one wavefront; gauge adds the others.
	costShared   = on(unit.Memory, 1, 24)
	costConstant = on(unit.Memory, 1, 27)  // from the constant cache
	costUniform  = on(unit.Integer, 1, 27) // the same, by one instruction for the warp
	costLocal    = on(unit.Memory, 1, 30)  // as a rule in L1
	costGlobal   = on(unit.Memory, 1, 0).withTrip()
	costAtomic   = on(unit.Memory, 1, 60).withTrip()
	costAtomicSM = on(unit.Memory, 1, 60)
	costStore    = on(unit.Memory, 1, 4)
	costTexture  = on(unit.Texture, 1, 40).withTrip()
	costShuffle  = on(unit.Shuffle, 1, 24)
	costVote     = on(unit.Vote, 1, 10)
	costBarrier  = on(unit.Branch, 1, 20)
	costFence    = on(unit.Memory, 1, 50)
	costBranch   = on(unit.Branch, 1, 6)
	costCall     = on(unit.Branch, 2, 30)
)

// fusing is the part that an instruction may have in a fused multiply-add.
type fusing uint8

const (
	alone fusing = iota
	product
	sum
)

// fusingOf returns the part of an instruction on floats. Those that state a rounding are not fused.
func fusingOf(in *ptx.Inst, typ ptx.Type) fusing {
	switch {
	case !typ.Float() || has(in, "rn") || has(in, "rz") || has(in, "rm") || has(in, "rp"):
		return alone
	case in.Name == "mul":
		return product
	case in.Name == "add" || in.Name == "sub":
		return sum
	}
	return alone
}

// arithmeticCost classifies an operation on registers. typ is the first type of the opcode,
// that of the result.
func arithmeticCost(in *ptx.Inst, typ ptx.Type) cost {
	switch in.Name {
	case "ex2", "lg2", "sin", "cos", "tanh":
		return costSpecial
	// The exact forms refine an approximation, like a division.
	case "rcp", "rsqrt", "sqrt":
		if typ != ptx.F64 && strings.Contains(in.Opcode(), ".approx") {
			return costSpecial
		}
		return divideCost(in, typ)
	case "div", "rem":
		return divideCost(in, typ)
	case "cvt":
		return costConvert
	case "popc", "clz", "bfind", "brev":
		return costBits
	case "mul", "mad", "mul24", "mad24", "madc":
		if !typ.Float() {
			return multiplyCost(in, typ)
		}
	case "add", "sub", "fma":
	default:
		return integerCost(typ) // min, max, neg and abs of floats use the integer unit, too
	}
	return floatCost(typ)
}

// flops returns the floating-point operations of an instruction on registers, per lane.
// They are counted in terms of PTX: a division counts as one, independent of the code that
// the assembler generates for it, and a fused multiply-add as two.
func flops(in *ptx.Inst, typ ptx.Type) int64 {
	if !typ.Float() {
		return 0
	}
	n := int64(1)
	if typ == ptx.F16X2 || typ == ptx.BF16X2 {
		n = 2
	}
	switch in.Name {
	case "fma", "mad":
		return 2 * n
	case "add", "sub", "mul", "div", "rcp", "sqrt", "rsqrt", "ex2", "lg2", "sin", "cos", "tanh":
		return n
	}
	return 0 // comparisons, moves and bit operations
}

// floatCost returns the cost of an add, multiply or fused multiply-add.
func floatCost(typ ptx.Type) cost {
	switch {
	case typ == ptx.F64:
		return costDouble
	case typ == ptx.F32:
		return costFloat
	case typ.Float():
		return costHalf
	}
	return integerCost(typ)
}

// integerCost returns the cost of an addition or a bit operation on integers.
func integerCost(typ ptx.Type) cost {
	switch {
	case typ == ptx.F64:
		return costDouble
	case typ.Size() == 8:
		return costALU64
	}
	return costALU
}

// multiplyCost returns the cost of a product of integers.
func multiplyCost(in *ptx.Inst, typ ptx.Type) cost {
	if typ.Size() == 8 && !has(in, "wide") {
		return costMul64
	}
	return costMul
}

// divideCost returns the cost of a division or root.
func divideCost(in *ptx.Inst, typ ptx.Type) cost {
	switch {
	case typ == ptx.F64:
		return costDivide64
	case typ.Float() && (has(in, "approx") || has(in, "full")):
		return costDivideFast
	case typ.Float():
		return costDivide
	case typ.Size() == 8:
		return costDivideInt64
	}
	return costDivideInt
}

// convertCost returns the cost of a cvt. Integers up to 32 bits are shifted and masked.
func convertCost(dst, src ptx.Type) cost {
	switch wide := dst.Size() == 8 || src.Size() == 8; {
	case !dst.Float() && !src.Float():
		return costALU
	case wide:
		return costWiden
	}
	return costConvert
}

// loadCost returns the cost of a load from a state space.
func loadCost(space ptx.Space) cost {
	switch space {
	case ptx.Shared:
		return costShared
	case ptx.Local:
		return costLocal
	case ptx.ParamSpace:
		return costALU
	}
	return costGlobal
}

// atomicCost returns the cost of an atomic operation in a state space.
func atomicCost(space ptx.Space) cost {
	if space == ptx.Shared {
		return costAtomicSM
	}
	return costAtomic
}
