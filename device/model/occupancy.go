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

// Holder is the limit that keeps more blocks from a multiprocessor.
type Holder uint8

const (
	Threads Holder = iota // number of warps
	Blocks                // number of blocks
	Registers
	Shared // memory
)

var holderNames = [...]string{"threads", "blocks", "registers", "shared memory"}

func (h Holder) String() string { return holderNames[h] }

// Occupancy returns how many blocks of a kernel fit on one multiprocessor; see Fit.
func (l *Limits) Occupancy(threads, registers, shared int) int {
	blocks, _ := l.Fit(threads, registers, shared)
	return blocks
}

// Fit returns how many blocks of a kernel fit on one multiprocessor, 0 if none does, and the limit that keeps more
// from it. Its arguments are the threads of a block, the registers of a thread (0 if unknown) and the bytes of shared
// memory of a block, static and dynamic. The rules are those of the CUDA occupancy calculator: warps are whole, the
// registers of a warp are allocated in units from the file of one scheduler, and every block uses the reserved shared
// memory.
func (l *Limits) Fit(threads, registers, shared int) (blocks int, by Holder) {
	if threads < 1 || threads > l.ThreadsPerBlock {
		return 0, Threads
	}
	if shared > l.SharedPerBlock {
		return 0, Shared
	}
	warps := Warps(threads)
	blocks, by = l.WarpsPerSM()/warps, Threads
	bound := func(most int, h Holder) {
		if most < blocks {
			blocks, by = most, h
		}
	}
	bound(l.BlocksPerSM, Blocks)
	if registers > 0 {
		perWarp := roundUp(registers*warpSize, l.RegistersPerWarp)
		resident := l.RegistersPerSM / l.Schedulers / perWarp * l.Schedulers
		bound(resident/warps, Registers)
	}
	if bytes := roundUp(shared+l.SharedReserved, sharedGranularity); bytes > 0 {
		bound(l.SharedPerSM/bytes, Shared)
	}
	return blocks, by
}

// WarpsPerSM returns the number of warps that a multiprocessor holds.
func (l *Limits) WarpsPerSM() int { return l.ThreadsPerSM / warpSize }

// Warps returns the number of warps of a block with the given number of threads.
func Warps(threads int) int { return (threads + warpSize - 1) / warpSize }

func roundUp(n, unit int) int { return (n + unit - 1) / unit * unit }
