package interp

import (
	"fmt"

	"github.com/reprise-gpu/reprise/internal/ptx"
)

// FaultKind is the cause of a fault.
type FaultKind uint8

// The kinds of faults. Unsupported and BadLaunch are faults of the launch, see Refused; all
// others are faults of a thread.
const (
	IllegalAddress  FaultKind = iota // an access outside every allocation
	Misaligned                       // an address that is not a multiple of the access size
	BarrierMismatch                  // threads wait at a barrier that can never complete
	Unsupported                      // an instruction the interpreter cannot run
	Trap                             // trap
	Assert                           // a failed assert of the program
	Deadlock                         // lanes wait for lanes of their warp that never arrive
	Timeout                          // the step limit was reached
	StackOverflow                    // calls nested too deep
	BadLaunch                        // grid, block, shared memory or parameters do not fit the kernel
)

// faultNames are the kinds in texts.
var faultNames = [...]string{
	IllegalAddress: "illegal address", Misaligned: "misaligned address", BarrierMismatch: "barrier mismatch",
	Unsupported: "unsupported instruction", Trap: "trap", Assert: "assertion failed", Deadlock: "deadlock",
	Timeout: "timeout", StackOverflow: "stack overflow", BadLaunch: "bad launch",
}

// String returns the name of the kind, such as "illegal address".
func (k FaultKind) String() string { return faultNames[k] }

// Fault is the reason why a kernel stopped, and the place. Its text has the form
//
//	kernel (label): kind in block (x,y,z) thread (x,y,z) at file:line (source): reason
type Fault struct {
	Kind    FaultKind
	Label   string // of the launch, may be empty
	Kernel  string
	Block   [3]uint32
	Thread  [3]uint32
	File    string
	Pos     ptx.Pos // of the instruction; line 0 if no instruction caused the fault
	Source  string  // the source line of the instruction by .loc, "" without one
	Address uint64  // of IllegalAddress and Misaligned
	Reason  string
}

// Error returns the text of the fault, in one line. A launch that was refused has no block
// and thread.
func (f *Fault) Error() string {
	s := f.Kernel
	if f.Label != "" && f.Label != f.Kernel {
		s += " (" + f.Label + ")"
	}
	s += ": " + f.Kind.String()
	switch f.Kind {
	case BadLaunch:
	case Unsupported:
		s += fmt.Sprintf(" at %s:%d:%d%s", f.File, f.Pos.Line, f.Pos.Col, f.from())
	default:
		s += fmt.Sprintf(" in block (%d,%d,%d) thread (%d,%d,%d)",
			f.Block[0], f.Block[1], f.Block[2], f.Thread[0], f.Thread[1], f.Thread[2])
		if f.Pos.Line > 0 {
			s += fmt.Sprintf(" at %s:%d%s", f.File, f.Pos.Line, f.from())
		}
	}
	return s + ": " + f.Reason
}

// from returns the source line of a fault, in parentheses.
func (f *Fault) from() string {
	if f.Source == "" {
		return ""
	}
	return " (" + f.Source + ")"
}

// Refused reports whether the launch was refused before any thread ran. Block and
// Thread are then meaningless.
func (f *Fault) Refused() bool { return f.Kind == Unsupported || f.Kind == BadLaunch }
