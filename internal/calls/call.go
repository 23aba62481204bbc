// Package calls describes the calls of a program that runs without being recorded: what tracer shows to its Sink.
package calls

import (
	"fmt"

	"github.com/reprise-gpu/reprise/ir"
)

// Call is one call of a program, with everything that decides what it does. Two calls that are equal do the same.
type Call struct {
	Kind     ir.Kind
	Kernel   *Kernel // of a launch
	Shape    Shape   // of a launch
	PC       uintptr // return address of the call in the program
	Operands []Operand
}

// Kernel identifies a kernel of a program.
type Kernel struct {
	Entry  string
	Number int // among the kernels of the program, in the order of their first use, from 1
}

// Shape is the launch configuration of a kernel.
type Shape struct {
	Grid, Block ir.Dim3
	Shared      uint32 // dynamic shared memory, bytes
}

// Operand is an argument of a launch. A copy has its destination and its source, a fill or a prefetch a range and a
// value. Operands are small because a sink may keep thousands.
type Operand struct {
	Kind ir.ArgKind
	Type ir.Type // of a scalar
	ID   int32   // of a buffer or parameter
	Bits uint64  // of a scalar; of a buffer, the first byte of the slice
	End  int64   // of a buffer, the end of the slice, which bounds what a kernel reaches
}

// Valued returns the operand for a scalar.
func Valued(v ir.Scalar) Operand { return Operand{Kind: ir.ArgScalar, Type: v.Type, Bits: v.Bits} }

// Scalar returns the value of a scalar.
func (o *Operand) Scalar() ir.Scalar { return ir.Scalar{Type: o.Type, Bits: o.Bits} }

// Range returns the range of a buffer.
func (o *Operand) Range() ir.Range {
	return ir.Range{Buffer: ir.BufferID(o.ID), Lo: int64(o.Bits), Hi: o.End}
}

// Arg returns the operand as an argument of a launch.
func (o *Operand) Arg() ir.Arg {
	switch o.Kind {
	case ir.ArgBuffer:
		return ir.Arg{Kind: ir.ArgBuffer, Buffer: ir.BufferID(o.ID), Offset: int64(o.Bits)}
	case ir.ArgParam:
		return ir.Arg{Kind: ir.ArgParam, Param: ir.ParamID(o.ID)}
	}
	return ir.Arg{Kind: ir.ArgScalar, Scalar: o.Scalar()}
}

// String returns the name of a call and its source line: "square at main.go:41".
func (c *Call) String() string {
	name := c.Kind.String()
	if c.Kernel != nil {
		name = c.Kernel.Entry
	}
	return fmt.Sprintf("%s at %v", name, PositionOf(c.PC))
}
