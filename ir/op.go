package ir

import (
	"fmt"

	"github.com/reprise-gpu/reprise/internal/dim"
)

// Kind is the kind of an operation.
type Kind uint8

const (
	KindEmpty    Kind = iota // empty                      orders, runs nothing
	KindLaunch               // launch m.k grid block args  runs a kernel
	KindCopy                 // copy @src -> @dst           moves bytes
	KindMemset               // memset @dst u32=0           fills with a pattern
	KindHost                 // host "name"                 calls a host function
	KindPrefetch             // prefetch @x -> device       moves managed memory to the device or the host
	KindLoop                 // loop until @r below 1 max(9) {}   repeats its body
	KindBranch               // branch if @r below 1 {} else {}   runs one of its bodies
	numKinds
)

var kindNames = [numKinds]string{
	KindEmpty: "empty", KindLaunch: "launch", KindCopy: "copy", KindMemset: "memset", KindHost: "host",
	KindPrefetch: "prefetch", KindLoop: "loop", KindBranch: "branch",
}

func (k Kind) String() string {
	if k >= numKinds {
		return fmt.Sprintf("kind(%d)", uint8(k))
	}
	return kindNames[k]
}

// Op is one operation. Exactly the pointer that Kind names is set.
//
// Graphs hold millions of operations. An Op has the size of two cache lines, and the first line holds all that the
// analysis of launches reads.
type Op struct {
	Kind Kind

	Launch   *Launch
	Copy     *Copy
	Memset   *Memset
	Prefetch *Prefetch

	// Uses are the accesses of a launch or of a host call. For a loop or a branch, ControlOp computes them.
	// Those of a copy, memset or prefetch follow from its operands: call Accesses for any kind.
	Uses []Access

	Control *Control // of a loop or a branch

	// After lists operations that must come before this one although no accesses conflict. All are earlier
	// in program order.
	After []OpID

	// Label is a name for messages: that of the function for a host call, any text for other kinds.
	Label string

	// Cost is a declared duration in nanoseconds. It is negative if none is declared.
	Cost int64

	// Pos is nil if the position is unknown. Operations may share it.
	Pos *Position
}

// Position is the line of the traced program that issued an operation.
type Position struct {
	File string
	Line int
}

// String returns "main.go:41", and "" for nil.
func (p *Position) String() string {
	if p == nil {
		return ""
	}
	return fmt.Sprintf("%s:%d", p.File, p.Line)
}

// Dim3 is the extent of a grid in blocks, or of a block in threads: struct{ X, Y, Z uint32 }. Its method Count returns
// their product. It is the same type as device.Dim3.
type Dim3 = dim.Dim3

// Launch runs kernel Entry of a module. Args are in the order of its signature.
type Launch struct {
	Module ModuleID
	Entry  string
	Grid   Dim3
	Block  Dim3
	Shared uint32 // dynamic shared memory, bytes
	Args   []Arg
	Maps   []Map // declared bytes of arguments, by argument, at most one each
}

// ArgKind is the kind of an argument.
type ArgKind uint8

const (
	ArgScalar ArgKind = iota // a constant
	ArgBuffer                // a buffer's address plus Offset bytes
	ArgParam                 // a replay parameter
)

// Arg is one kernel argument.
type Arg struct {
	Kind   ArgKind
	Scalar Scalar
	Buffer BufferID
	Offset int64
	Param  ParamID
}

// Copy moves Src to Dst, ranges of equal size that do not overlap.
type Copy struct{ Dst, Src Range }

// Memset fills Dst with the bytes of Value. The driver requires that both ends are multiples of the width
// of Value, which is 1, 2 or 4 bytes.
type Memset struct {
	Dst   Range
	Value Scalar
}

// Prefetch moves managed memory to the device, or to the host. It does not change the contents. It is ordered
// like an operation that reads and writes its range, so that later accesses find the bytes in place.
type Prefetch struct {
	Range    Range
	ToDevice bool
}

// Complete reports whether the field that Kind names is set, and no other.
func (op *Op) Complete() bool {
	return (op.Kind == KindLaunch) == (op.Launch != nil) &&
		(op.Kind == KindCopy) == (op.Copy != nil) &&
		(op.Kind == KindMemset) == (op.Memset != nil) &&
		(op.Kind == KindPrefetch) == (op.Prefetch != nil) &&
		op.Kind.isControl() == (op.Control != nil)
}

// Accesses returns every access of op: its Uses, which the caller must not change, or for a copy, memset or
// prefetch the accesses of its operands, in scratch. With scratch on the stack, nothing is allocated.
func (op *Op) Accesses(scratch *[2]Access) []Access {
	if op.Kind == KindLaunch || op.Kind == KindHost || op.Kind.isControl() {
		return op.Uses
	}
	dst := scratch[:0]
	switch op.Kind {
	case KindCopy:
		return append(dst, Access{op.Copy.Src, Read, 0}, Access{op.Copy.Dst, Write, 0})
	case KindMemset:
		return append(dst, Access{op.Memset.Dst, Write, 0})
	case KindPrefetch:
		return append(dst, Access{op.Prefetch.Range, ReadWrite, 0})
	}
	return append(dst, op.Uses...)
}
