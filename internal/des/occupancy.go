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

// Occupancy is how many blocks of a kernel fit on one
// multiprocessor, by threads, registers (per thread, 0 when unknown) and shared
// bytes (static and dynamic). It is 0 when not even one fits. The rules are
// those of the CUDA occupancy calculator: warps are whole, a warp's registers
// are allocated in units from the file of one of the schedulers, every block pays the reserved shared memory.
func (l *Limits) Occupancy(threads, registers, shared int) int {
	if threads < 1 || threads > l.ThreadsPerBlock || shared > l.SharedPerBlock {
		return 0
	}
	warps := (threads + warpSize - 1) / warpSize
	blocks := min(l.BlocksPerSM, l.ThreadsPerSM/warpSize/warps)
	if registers > 0 {
		perWarp := roundUp(registers*warpSize, l.RegistersPerWarp)
		resident := l.RegistersPerSM / l.Schedulers / perWarp * l.Schedulers
		blocks = min(blocks, resident/warps)
	}
	if bytes := roundUp(shared+l.SharedReserved, sharedGranularity); bytes > 0 {
		blocks = min(blocks, l.SharedPerSM/bytes)
	}
	return blocks
}

func roundUp(n, unit int) int { return (n + unit - 1) / unit * unit }
