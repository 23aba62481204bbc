package des

// Limits are what bounds the blocks resident on one multiprocessor.
type Limits struct {
	ThreadsPerSM     int // threads resident on a multiprocessor
	ThreadsPerBlock  int // threads of one block
	BlocksPerSM      int // blocks resident on a multiprocessor
	RegistersPerSM   int // 32-bit registers of a multiprocessor
	RegistersPerWarp int // granularity of allocation
	Schedulers       int // issue a warp instruction per cycle each, and share the registers out
	SharedPerSM      int // bytes of a multiprocessor
	SharedPerBlock   int // bytes, at most, static and dynamic
	SharedReserved   int // bytes the system takes of every block
}

const (
	warpSize          = 32
	sharedGranularity = 128 // bytes, of shared memory allocation
)

// Holder is what keeps more blocks from a multiprocessor.
type Holder uint8

const (
	Threads Holder = iota // its warps
	Blocks                // the number of blocks it takes
	Registers
	Shared // memory
)

var holderNames = [...]string{"threads", "blocks", "registers", "shared memory"}

func (h Holder) String() string { return holderNames[h] }

// Occupancy is how many blocks of a kernel fit on one multiprocessor: see Fit.
func (l *Limits) Occupancy(threads, registers, shared int) int {
	blocks, _ := l.Fit(threads, registers, shared)
	return blocks
}

// Fit is how many blocks of a kernel fit on one multiprocessor, and what keeps
// more from it, by threads, registers (per thread, 0 when unknown) and shared
// bytes (static and dynamic). It is 0 when not even one fits. The rules are
// those of the CUDA occupancy calculator: warps are whole, a warp's registers
// are allocated in units from the file of one of the schedulers, every block pays the reserved shared memory.
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

// WarpsPerSM is how many warps a multiprocessor holds.
func (l *Limits) WarpsPerSM() int { return l.ThreadsPerSM / warpSize }

// Warps is how many warps threads make.
func Warps(threads int) int { return (threads + warpSize - 1) / warpSize }

func roundUp(n, unit int) int { return (n + unit - 1) / unit * unit }
