// Package parallel shares the passes over a long program among the cores.
package parallel

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// blocksPerWorker is how many blocks it takes until another core is worth asking.
const blocksPerWorker = 16

// Blocks calls do for items [first, end) of n, a block of the given size at a time, in any order
// and on several goroutines. It returns when all have.
func Blocks(n, size int, do func(first, end int)) {
	blocks := (n + size - 1) / size
	var next atomic.Int64
	work := func() {
		for b := int(next.Add(1)) - 1; b < blocks; b = int(next.Add(1)) - 1 {
			do(b*size, min(n, (b+1)*size))
		}
	}
	var others sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), blocks/blocksPerWorker) - 1 {
		others.Go(work)
	}
	work()
	others.Wait()
}
