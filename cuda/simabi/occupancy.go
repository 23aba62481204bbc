//go:build cuda && cgo

package simabi

// #include "occupancy.h"
import "C"

import "sort"

// blocks returns the number of blocks of a function that a multiprocessor runs at
// once. It is 0 if not even one fits, or if the program has not permitted that much
// shared memory.
func (f *function) blocks(threads int, dynamic C.size_t) (int, error) {
	switch {
	case threads < 1:
		return 0, invalidValue
	case dynamic > C.size_t(f.tuning.dynamic) || threads > f.maxThreads():
		return 0, nil
	}
	return f.module.context.sim.Occupancy(f.sim, threads, int(dynamic))
}

// checkOccupancyFlags returns an error for unknown flags. The known one has no effect.
func checkOccupancyFlags(flags C.uint) error {
	if flags&^C.CU_OCCUPANCY_DISABLE_CACHING_OVERRIDE != 0 {
		return invalidValue
	}
	return nil
}

//export sim_cuOccupancyMaxActiveBlocksPerMultiprocessor
func sim_cuOccupancyMaxActiveBlocksPerMultiprocessor(n *C.int, h C.CUfunction, threads C.int, dynamic C.size_t) C.CUresult {
	return sim_cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(n, h, threads, dynamic, 0)
}

//export sim_cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags
func sim_cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(n *C.int, h C.CUfunction, threads C.int, dynamic C.size_t, flags C.uint) C.CUresult {
	return onFunction(h, func(f *function) error {
		if err := checkOccupancyFlags(flags); err != nil || n == nil {
			return invalidValue
		}
		blocks, err := f.blocks(int(threads), dynamic)
		if err == nil {
			*n = C.int(blocks)
		}
		return err
	})
}

//export sim_cuOccupancyMaxPotentialBlockSize
func sim_cuOccupancyMaxPotentialBlockSize(grid, block *C.int, h C.CUfunction, sizes C.CUoccupancyB2DSize, dynamic C.size_t, limit C.int) C.CUresult {
	return sim_cuOccupancyMaxPotentialBlockSizeWithFlags(grid, block, h, sizes, dynamic, limit, 0)
}

// sim_cuOccupancyMaxPotentialBlockSizeWithFlags tries every block size of whole warps, from the largest down, and
// returns the first with the highest occupancy, in threads per multiprocessor.
//
//export sim_cuOccupancyMaxPotentialBlockSizeWithFlags
func sim_cuOccupancyMaxPotentialBlockSizeWithFlags(grid, block *C.int, h C.CUfunction, sizes C.CUoccupancyB2DSize, dynamic C.size_t, limit C.int, flags C.uint) C.CUresult {
	var tries []int
	answer := onFunction(h, func(f *function) error {
		if err := checkOccupancyFlags(flags); err != nil || grid == nil || block == nil {
			return invalidValue
		}
		tries = f.blockSizes(int(limit))
		return nil
	})
	// The program's function may call the driver, so it runs outside the call.
	shared := make([]C.size_t, len(tries))
	for i, threads := range tries {
		shared[i] = C.simabi_shared_size(sizes, C.int(threads), dynamic)
	}
	if answer != C.CUDA_SUCCESS {
		return answer
	}
	return onFunction(h, func(f *function) error {
		best, blocks, err := f.fullest(tries, shared)
		if err == nil {
			*block, *grid = C.int(best), C.int(blocks*f.module.context.gpu.profile.SMs)
		}
		return err
	})
}

// blockSizes returns the candidate sizes, largest first: whole warps, and the
// limit.
func (f *function) blockSizes(limit int) (sizes []int) {
	most := f.maxThreads()
	if limit > 0 {
		most = min(most, limit)
	}
	for warps := (most + warpSize - 1) / warpSize; warps > 0; warps-- {
		sizes = append(sizes, min(most, warps*warpSize))
	}
	return sizes
}

// fullest returns the first block size, with its shared memory, for which a
// multiprocessor runs the most threads, and the number of blocks.
func (f *function) fullest(sizes []int, shared []C.size_t) (best, blocks int, err error) {
	for i, threads := range sizes {
		n, err := f.blocks(threads, shared[i])
		if err != nil {
			return 0, 0, err
		}
		if n*threads > blocks*best {
			best, blocks = threads, n
		}
	}
	return best, blocks, nil
}

// sim_cuOccupancyAvailableDynamicSMemPerBlock finds the most dynamic shared memory with which a multiprocessor still
// runs the given number of blocks. The number of blocks does not increase with the memory, so it is a binary search
// over bytes.
//
//export sim_cuOccupancyAvailableDynamicSMemPerBlock
func sim_cuOccupancyAvailableDynamicSMemPerBlock(bytes *C.size_t, h C.CUfunction, blocks, threads C.int) C.CUresult {
	return onFunction(h, func(f *function) error {
		if bytes == nil || blocks < 1 || threads < 1 {
			return invalidValue
		}
		tooMuch := sort.Search(f.tuning.dynamic+1, func(dynamic int) bool {
			n, err := f.blocks(int(threads), C.size_t(dynamic))
			return err != nil || n < int(blocks)
		})
		if tooMuch == 0 {
			return invalidValue
		}
		*bytes = C.size_t(tooMuch - 1)
		return nil
	})
}
