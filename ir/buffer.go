package ir

// PlaceKind is the kind of memory that holds a buffer.
type PlaceKind uint8

const (
	OnDevice     PlaceKind = iota // memory of one device
	PinnedHost                    // page-locked host memory, which the device copies without staging
	PageableHost                  // ordinary host memory
	Managed                       // moves between the device and the host on access
)

// Place is the memory that holds a buffer. Device is the ordinal of the device; only OnDevice uses it.
type Place struct {
	Kind   PlaceKind
	Device int32
}

// Role is the use that the program around the graph makes of a buffer's contents.
type Role uint8

const (
	Temporary Role = iota // written before it is read in every replay, dead afterwards
	Input                 // set by the program before the first replay or a later one
	Output                // read by the program after a replay
	InOut                 // both: carried from replay to replay
	Constant              // as Input, and no recorded operation writes it
)

// Buffer is one allocation: Len elements of Elem. Zero elements are allowed.
type Buffer struct {
	Name  string
	Elem  Type
	Len   int64
	Place Place
	Role  Role
}

// Size is the buffer's extent in bytes.
func (b *Buffer) Size() int64 { return b.Len * b.Elem.Size() }

// Range is the half-open span of bytes [Lo, Hi) of a buffer.
type Range struct {
	Buffer BufferID
	Lo, Hi int64
}

// Empty reports whether the range holds no byte.
func (r Range) Empty() bool { return r.Lo >= r.Hi }

// Overlaps reports whether the two ranges share a byte.
func (r Range) Overlaps(o Range) bool {
	return r.Buffer == o.Buffer && max(r.Lo, o.Lo) < min(r.Hi, o.Hi)
}

// intersect returns the bytes that both ranges hold. It is empty if they share none.
func (r Range) intersect(o Range) Range {
	if r.Buffer != o.Buffer {
		return Range{Buffer: r.Buffer}
	}
	return Range{r.Buffer, max(r.Lo, o.Lo), min(r.Hi, o.Hi)}
}

// Mode is the way in which an operation accesses a range of bytes.
type Mode uint8

const (
	Read      Mode = iota
	Write          // does not depend on the old bytes
	ReadWrite      // reads the old bytes and may change them
	Reduce         // commutative update such as an atomic addition; ordered like ReadWrite
)

// Reads reports whether the mode observes the old bytes.
func (m Mode) Reads() bool { return m != Write }

// Writes reports whether the mode may change the bytes.
func (m Mode) Writes() bool { return m != Read }

// Access is one use of bytes of a buffer by an operation: of all of Range if Shape is 0, else of the shape with
// this number that begins at Lo and ends at Hi. A write may leave some of the bytes unchanged.
//
// Overlaps compares the ranges. Compare Graph.Box of two accesses for the bytes that they have in common.
type Access struct {
	Range
	Mode  Mode
	Shape ShapeID
}

// Module is a PTX module that launches refer to. Source is not part of the text of the graph: it is in a
// section of its own in the same file.
type Module struct {
	Name   string // identifier in the text form
	File   string // file name of the section that holds the PTX
	Source string
}

// Param is a scalar that a replay may change by name; Value is its first value.
type Param struct {
	Name  string
	Value Scalar
}
