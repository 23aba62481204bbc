package mpi

import (
	"errors"
	"unsafe"
)

// ErrUnavailable is in the chain of errors of Open when MPI cannot be used: this program or the library was not built
// with it, or the library cannot be loaded.
var ErrUnavailable = errors.New("MPI is not available")

// engine is libreprise-mpi.so. Results are those of its functions: less than 0 is an error.
type engine interface {
	hosted() bool // whether the host program has initialised MPI
	open(o Options) (world, int)
	finish(finalize bool) int
	text(result int) string
	// gather and gatherv start a gather. The bytes are pinned until it has ended.
	gather(mine, all []byte) int
	gatherv(mine, all []byte, sizes, offsets []int32) int
	freeze(messages []message) (unsafe.Pointer, int)
	// call calls a function for an exchange, or for the gather if exchange is nil.
	call(f function, exchange unsafe.Pointer, polls int) int
	// pending returns for each of count messages whether it is not complete.
	pending(exchange unsafe.Pointer, count int) ([]bool, int)
}

// function is a function of the library that has an exchange as its argument.
type function int

const (
	start function = iota
	test
	run
	release
)

// complete is the result of test and run when all messages are complete.
const complete = 1

// world is what open returns.
type world struct {
	rank, size int
	anyThread  bool // all threads may call MPI, one at a time
	lastTag    int
}

// message is a message with the tag that MPI has for it. The bytes are pinned.
type message struct {
	bytes []byte
	peer  int
	tag   int
	send  bool
}
