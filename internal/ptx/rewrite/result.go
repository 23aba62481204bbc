package rewrite

import (
	"errors"
	"fmt"

	"github.com/reprise-gpu/reprise/internal/ptx"
)

// Result is a rewritten kernel in a module of its own, which holds the kernel, the functions
// that it calls and the module variables that it uses.
//
// The module has its own copies of the variables, with their initial values. A program that
// writes a variable of the original module, or that uses it in other kernels as well, must not
// use the rewritten kernel: see Variables.
type Result struct {
	Module *ptx.Module // parsed from Text
	Text   string
	Kernel string
	Params []Origin // of each parameter of the kernel, in order

	// Grid and Block are the extents of the launch. Range and Tile leave them zero: the grid is the
	// number of blocks in x, or that of the box, the block that of the original. So does Batch for Block, and for
	// Grid if the instances come from a table and differ in size.
	Grid, Block [3]uint32
	// Shared is the dynamic shared memory of a launch of Fuse, in bytes. The other rewrites
	// need that of the original.
	Shared uint32
	// Variables lists the module variables that the kernel uses, apart from the shared ones.
	Variables []Variable
	// Table is the layout of the table of Batch, nil without one.
	Table *Table
}

// Origin is the source of a parameter's value.
type Origin struct {
	Kind OriginKind
	// Part is the index of an instance or a part, and Param the index of a parameter of its
	// kernel. They are set if Kind is Argument. Part is -1 for a parameter that is equal for
	// all instances.
	Part, Param int
}

// OriginKind is the kind of value that a parameter has.
type OriginKind uint8

// The kinds of parameters. Those from First on are added by Range and Tile and have 32 bits: see
// RangeArguments and TileArguments.
const (
	Argument     OriginKind = iota // an argument of a part
	TableAddress                   // the address of the table or of the list of rows of Batch, 64 bits
	RowOffset                      // what is added to the address of each row, 32 bits
	First                          // index of the first block to run
	GridX                          // extents of the original grid
	GridY
	GridZ
	GridMinusX // their negatives, as two's complement
	GridMinusY
	GridMagicX // multipliers of the divisions by extents
	GridMagicY
	GridShiftX // shifts of the divisions by extents
	GridShiftY
	FirstX // indices of the first block of a box
	FirstY
	FirstZ
)

// Variable is a module variable of a rewritten kernel.
type Variable struct {
	Part     int    // the lowest index of a part that uses it; 0 except for Fuse
	Original string // name in the module of that part
	Name     string // name in the result
	Written  bool   // the kernel may write it
	Constant bool   // no kernel of the module may write it
}

// Changing returns the first variable that a kernel of the original module may write, or nil. Without one, the copies of
// the variables in the rewritten module keep the values that the original ones have.
func (r *Result) Changing() *Variable {
	for i := range r.Variables {
		if !r.Variables[i].Constant {
			return &r.Variables[i]
		}
	}
	return nil
}

// Refusal reports that a kernel cannot be rewritten. The reason names the construct.
type Refusal struct {
	Kernel, Reason string
	invalid        bool // the parser refuses the rewritten kernel
}

func (r *Refusal) Error() string {
	return fmt.Sprintf("rewrite: kernel %s cannot be rewritten: %s", r.Kernel, r.Reason)
}

// refuse returns a Refusal with a formatted reason.
func refuse(kernel, format string, args ...any) error {
	return &Refusal{Kernel: kernel, Reason: fmt.Sprintf(format, args...)}
}

// finish prints m and parses the text, which checks the result. A fault of the text is a limit
// that the rewritten kernel exceeds.
func (r *Result) finish(m *ptx.Module, kernel string) (*Result, error) {
	r.Text = m.String()
	parsed, err := ptx.Parse(m.File, r.Text)
	if err != nil {
		reason := err.Error()
		if first := (*ptx.Error)(nil); errors.As(err, &first) {
			reason = first.Msg
		}
		return nil, &Refusal{Kernel: kernel, Reason: reason, invalid: true}
	}
	r.Module = parsed
	return r, nil
}
