package model

// Limits holds the limits of the blocks that are resident on one multiprocessor.
type Limits struct {
	ThreadsPerSM     int // threads resident on a multiprocessor
	ThreadsPerBlock  int // threads of one block
	BlocksPerSM      int // blocks resident on a multiprocessor
	RegistersPerSM   int // 32-bit registers of a multiprocessor
	RegistersPerWarp int // granularity of allocation
	Schedulers       int // each issues one warp instruction per cycle and has an equal share of the registers
	SharedPerSM      int // bytes per multiprocessor
	SharedPerBlock   int // maximum in bytes, static and dynamic
	SharedReserved   int // bytes that the system reserves in every block
}

const (
	warpSize          = 32
	sharedGranularity = 128 // bytes, of shared memory allocation
)

// The limits of Occupancy.
const (
	byThreads   = "threads" // number of warps
	byBlocks    = "blocks"
	byRegisters = "registers"
	byShared    = "shared memory"
)

// Occupancy returns how many blocks of a kernel fit on one multiprocessor, 0 if none does, and the limit that keeps more
// from it: "threads", "blocks", "registers" or "shared memory". Its arguments are the threads of a block, the registers of a thread (0 if unknown) and the bytes of shared
// memory of a block, static and dynamic. The rules are those of the CUDA occupancy calculator: warps are whole, the
// registers of a warp are allocated in units from the file of one scheduler, and every block uses the reserved shared
// memory.
func (l *Limits) Occupancy(threads, registers, shared int) (blocks int, by string) {
	if threads < 1 || threads > l.ThreadsPerBlock {
		return 0, byThreads
	}
	if shared > l.SharedPerBlock {
		return 0, byShared
	}
	warps := roundUp(threads, warpSize) / warpSize
	blocks, by = l.ThreadsPerSM/warpSize/warps, byThreads
	bound := func(most int, limit string) {
		if most < blocks {
			blocks, by = most, limit
		}
	}
	bound(l.BlocksPerSM, byBlocks)
	if registers > 0 {
		perWarp := roundUp(registers*warpSize, l.RegistersPerWarp)
		resident := l.RegistersPerSM / l.Schedulers / perWarp * l.Schedulers
		bound(resident/warps, byRegisters)
	}
	if bytes := roundUp(shared+l.SharedReserved, sharedGranularity); bytes > 0 {
		bound(l.SharedPerSM/bytes, byShared)
	}
	return blocks, by
}

func roundUp(n, unit int) int { return (n + unit - 1) / unit * unit }
