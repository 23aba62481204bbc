package des

// BarrierCycles is the time by which each warp of a multiprocessor lengthens a barrier. A multiprocessor handles the
// barrier of 16 threads per cycle (CUDA C++ Programming Guide, throughput of __syncthreads): two cycles for the arrival
// of a warp, and as long for its release.
const BarrierCycles = 4

// Present returns how many blocks of a grid a multiprocessor holds at once: blocks spread over all multiprocessors
// before one holds a second.
func Present(blocks uint64, perSM, sms int) int {
	return int(min(uint64(perSM), max(1, (blocks+uint64(sms)-1)/uint64(sms))))
}
