package access

import (
	"fmt"
	"strings"

	"github.com/reprise-gpu/reprise/internal/ptx"
)

// Access is what a kernel does to the memory behind a pointer. Read and write
// are bits, so that Or joins two accesses.
type Access uint8

// The bits of Read and Write combine to ReadWrite. Unknown has a value of its own, so that
// Or cannot produce it by accident.
const (
	None      Access = iota // never dereferenced
	Read                    // only loads
	Write                   // only stores; they need not cover the whole buffer
	ReadWrite               // loads and stores, or an atomic
	Unknown                 // the analysis failed: treat it as ReadWrite
)

// accessNames are the names of accesses in text and JSON.
var accessNames = [...]string{"none", "read", "write", "readwrite", "unknown"}

// String returns the name of a, such as "readwrite".
func (a Access) String() string {
	if int(a) >= len(accessNames) {
		return fmt.Sprintf("access(%d)", uint8(a))
	}
	return accessNames[a]
}

// MarshalText returns the name, so that JSON contains names and no numbers.
func (a Access) MarshalText() ([]byte, error) { return []byte(a.String()), nil }

// UnmarshalText parses the output of MarshalText. It returns an error for any other text.
func (a *Access) UnmarshalText(text []byte) error {
	for i, name := range accessNames {
		if name == string(text) {
			*a = Access(i)
			return nil
		}
	}
	return fmt.Errorf("%q is not an access: it must be one of %s", text, strings.Join(accessNames[:], ", "))
}

// Or returns the access of code that does both a and b.
func (a Access) Or(b Access) Access {
	if a == Unknown || b == Unknown {
		return Unknown
	}
	return a | b
}

// Effects describes what a kernel does to memory that outlives it.
type Effects struct {
	// Params has at least one row for each parameter, in order. A struct has one
	// row for each of its eight-byte fields that may be a pointer.
	Params []ParamAccess `json:"params"`
	// Symbols are the .global and .const variables of the module that the kernel
	// touches. No caller passes them.
	Symbols []SymbolAccess `json:"symbols,omitempty"`
	// Opaque explains why the kernel may touch memory that no parameter points to.
	// It is nil if the kernel cannot.
	Opaque *Reason `json:"opaque,omitempty"`
}

// ParamAccess describes what a kernel does through one pointer.
type ParamAccess struct {
	Param  int    `json:"param"`           // index into Func.Params
	Field  int    `json:"field,omitempty"` // byte offset in the parameter; -1 if it is not known
	Name   string `json:"name"`
	Access Access `json:"access"`
	// Offset is the access through addresses that the kernel computes with the
	// parameter as a number. It applies only if the caller passes an address for
	// that number.
	Offset  Access  `json:"offset,omitzero"`
	ReadAt  ptx.Pos `json:"readAt,omitzero"`  // first load
	WriteAt ptx.Pos `json:"writeAt,omitzero"` // first store; an atomic counts as both
	PlainAt ptx.Pos `json:"plainAt,omitzero"` // first access that is not a commuting atomic
	Update  *Update `json:"-"`                // all accesses are this update; nil for any other
	StoreAt ptx.Pos `json:"storeAt,omitzero"` // first instruction that stores the pointer itself
	Why     *Reason `json:"why,omitempty"`    // set for Unknown
}

// SymbolAccess describes what a kernel does to one variable of its module.
type SymbolAccess struct {
	Name    string  `json:"name"`
	Access  Access  `json:"access"`
	ReadAt  ptx.Pos `json:"readAt,omitzero"`
	WriteAt ptx.Pos `json:"writeAt,omitzero"`
}

// Reason explains why the analysis failed, and names the instruction that
// caused it.
type Reason struct {
	File string  `json:"file"`
	Pos  ptx.Pos `json:"pos"`
	Msg  string  `json:"msg"`
}

// String returns "file:line:column: message".
func (r *Reason) String() string {
	return fmt.Sprintf("%s:%d:%d: %s", r.File, r.Pos.Line, r.Pos.Col, r.Msg)
}
