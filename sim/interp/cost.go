package interp

import (
	"strings"

	"github.com/reprise-gpu/reprise/ptx"
)

// cost is what one warp instruction takes on a Hopper multiprocessor: issue
// cycles of one of its four schedulers, from the throughput table of the CUDA
// programming guide (128 lanes a cycle is 1 cycle of a scheduler), and the
// cycles until its result can be used.
type cost struct{ issue, latency int64 }

var (
	costFree      = cost{0, 0} // resolved when the kernel is lowered, or by the assembler
	costALU       = cost{1, 4}
	costDouble    = cost{2, 8}
	costConvert   = cost{2, 6}
	costSpecial   = cost{8, 20} // 16 lanes a cycle
	costDivide    = cost{10, 40}
	costDivide64  = cost{20, 100}
	costDivideInt = cost{20, 80}
	costShared    = cost{4, 30}
	costLocal     = cost{4, 40}
	costGlobal    = cost{4, 500}
	costAtomic    = cost{8, 600}
	costAtomicSM  = cost{8, 60}
	costStore     = cost{4, 4}
	costShuffle   = cost{4, 25}
	costBarrier   = cost{2, 20}
	costFence     = cost{2, 50}
	costBranch    = cost{1, 6}
	costCall      = cost{4, 30}
)

// arithmeticCost classifies an operation on registers.
func arithmeticCost(in *ptx.Inst, typ ptx.Type) cost {
	approx := strings.Contains(in.Opcode(), ".approx")
	switch {
	case approx && in.Name != "div":
		return costSpecial
	case in.Name == "div" || in.Name == "sqrt" || in.Name == "rcp" || in.Name == "rsqrt":
		switch {
		case typ == ptx.F64:
			return costDivide64
		case typ.Float():
			return costDivide
		}
		return costDivideInt
	case in.Name == "rem":
		return costDivideInt
	case in.Name == "cvt", in.Name == "popc", in.Name == "clz", in.Name == "bfind", in.Name == "brev":
		return costConvert
	case typ == ptx.F64:
		return costDouble
	}
	return costALU
}

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

func atomicCost(space ptx.Space) cost {
	if space == ptx.Shared {
		return costAtomicSM
	}
	return costAtomic
}
