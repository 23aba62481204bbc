package timings

import "fmt"

// Record describes how an operation ran.
type Record struct {
	Kind   string // of the operation, as in package ir: "launch"
	Kernel Kernel // zero for an operation that is not a launch
	// Time is from the end of the operation before it in its stream to its own end.
	Time     *Sketch
	Blocks   uint64 // of a launch
	Resident int    // blocks of a launch that a multiprocessor holds; 0 if that is unknown
	Bound    Bound
}

// merge adds the times of another record of the same operation, and takes over what it states otherwise.
func (r *Record) merge(o *Record) {
	r.Time.Merge(o.Time)
	if o.Resident > 0 {
		r.Resident = o.Resident
	}
	if o.Bound != Unknown {
		r.Bound = o.Bound
	}
}

// clone returns a copy that shares nothing.
func (r *Record) clone() *Record {
	c := *r
	c.Time = NewSketch()
	c.Time.Merge(r.Time)
	return &c
}

// Bound is what takes most of a kernel's time.
type Bound uint8

// The bounds of kernels.
const (
	Unknown Bound = iota // neither of the others: latency, or not a kernel
	Compute              // instructions
	Memory               // bytes of L2 or of the device's memory
)

var boundNames = [...]string{"unknown", "compute", "memory"}

// String returns "unknown", "compute" or "memory".
func (b Bound) String() string { return boundNames[b] }

// MarshalText returns the name of the bound.
func (b Bound) MarshalText() ([]byte, error) { return []byte(b.String()), nil }

// UnmarshalText parses the name of a bound.
func (b *Bound) UnmarshalText(text []byte) error {
	for i, name := range boundNames {
		if name == string(text) {
			*b = Bound(i)
			return nil
		}
	}
	return fmt.Errorf("the bound of a kernel is %.20q: use compute, memory or unknown", text)
}
