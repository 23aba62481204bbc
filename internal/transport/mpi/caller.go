package mpi

import (
	"runtime"
	"sync"
	"sync/atomic"
	"unsafe"
)

// caller calls the library, from one thread at a time. If MPI allows every thread, or if the thread belongs to the host
// program, calls are made on the thread of the goroutine that needs them. Otherwise a goroutine that is locked to its
// thread makes all of them. It initialises and finalises MPI in any case.
type caller struct {
	engine engine
	hosted bool // the host program has initialised MPI
	world

	mu       sync.Mutex
	wanting  atomic.Int32 // goroutines that wait for mu
	requests chan request // to the goroutine that is locked to its thread; nil if hosted
	results  chan int
}

// request is a call of a function for an exchange, or of any other function.
type request struct {
	f        function
	exchange unsafe.Pointer
	polls    int
	other    func() int
}

func (r *request) perform(e engine) int {
	if r.other != nil {
		return r.other()
	}
	return e.call(r.f, r.exchange, r.polls)
}

// initialise initialises MPI.
func (c *caller) initialise(o Options) int {
	if !c.hosted {
		c.requests, c.results = make(chan request), make(chan int)
		go c.serve()
	}
	return c.call(request{other: func() (result int) {
		c.world, result = c.engine.open(o)
		return result
	}})
}

// finalise ends the use of MPI.
func (c *caller) finalise() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.hosted {
		return c.engine.finish(false)
	}
	c.requests <- request{other: func() int { return c.engine.finish(true) }}
	defer close(c.requests)
	return <-c.results
}

func (c *caller) serve() {
	runtime.LockOSThread() // for good: the thread ends with the goroutine
	for r := range c.requests {
		c.results <- r.perform(c.engine)
	}
}

// call makes a call and returns its result.
func (c *caller) call(r request) int {
	if !c.mu.TryLock() {
		c.wanting.Add(1)
		c.mu.Lock()
		c.wanting.Add(-1)
	}
	defer c.mu.Unlock()
	if c.hosted || c.anyThread {
		return r.perform(c.engine)
	}
	c.requests <- r
	return <-c.results
}

// How often a call polls. It is less while another goroutine waits to call.
const maxPolls, fewPolls = 1 << 20, 64

func (c *caller) polls() int {
	if c.wanting.Load() > 0 {
		runtime.Gosched()
		return fewPolls
	}
	return maxPolls
}
