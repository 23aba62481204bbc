package des

// Limit is what keeps a task from being done sooner. Every instant from the
// moment a task may start to its end is put down to one.
type Limit uint8

// Resources, of which those who use one get a share.
const (
	Dispatch Limit = iota // the block scheduler
	Issue                 // the warp schedulers of the multiprocessors
	FMA                   // their pipe for float, half and integer multiplication
	ALU                   // the one for the other integer work
	FP64                  // double precision
	XU                    // approximations, conversions, bit counts
	LSU                   // loads, stores and shuffles: wavefronts of L1 and shared memory
	BRU                   // branches
	Tensor                // matrix multiplication
	L2                    // bytes between the multiprocessors and L2
	Atomics               // updates in L2
	DRAM                  // bytes of device memory
	LinkIn                // bytes from the host
	LinkOut               // bytes to the host
	Link                  // both together
	resources
)

// Other limits.
const (
	Latency  Limit = resources + iota // chains of instructions and memory accesses of the blocks that fit
	Ramp                              // getting a kernel or copy under way
	Queued                            // for slots on multiprocessors, a copy engine or the host's thread
	HostCall                          // a callback on the host
	Declared                          // a duration that was given
	limits
)

var limitNames = [limits]string{
	"dispatch", "issue", "fma pipe", "alu pipe", "fp64 pipe", "xu pipe", "lsu pipe", "branch pipe", "tensor pipe",
	"L2 bandwidth", "L2 atomics", "DRAM bandwidth", "link in", "link out", "link",
	"latency", "ramp", "queued", "host call", "declared",
}

func (l Limit) String() string { return limitNames[l] }

// Spent is time by what limited it.
type Spent [limits]Time

// Total is all of it.
func (s *Spent) Total() (sum Time) {
	for _, t := range s {
		sum += t
	}
	return sum
}
