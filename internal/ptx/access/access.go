package access

import (
	"fmt"
	"strings"

	"github.com/reprise-gpu/reprise/internal/ptx"
)

// Access is what a kernel does with the memory behind a pointer.
type Access uint8

const (
	AccessNone      Access = iota // never dereferenced
	AccessRead                    // only loads
	AccessWrite                   // only stores; they need not cover the whole buffer
	AccessReadWrite               // both, or an atomic
	AccessUnknown                 // not known: treat it as AccessReadWrite
)

var accessNames = [...]string{"none", "read", "write", "readwrite", "unknown"}

func (a Access) String() string {
	if int(a) >= len(accessNames) {
		return fmt.Sprintf("access(%d)", uint8(a))
	}
	return accessNames[a]
}

// MarshalText writes the name, so that JSON has words.
func (a Access) MarshalText() ([]byte, error) { return []byte(a.String()), nil }

// UnmarshalText reads what MarshalText wrote.
func (a *Access) UnmarshalText(text []byte) error {
	for i, name := range accessNames {
		if name == string(text) {
			*a = Access(i)
			return nil
		}
	}
	return fmt.Errorf("%q is no access; want one of %s", text, strings.Join(accessNames[:], ", "))
}

// Or is the access of somebody who does both.
func (a Access) Or(b Access) Access {
	if a == AccessUnknown || b == AccessUnknown {
		return AccessUnknown
	}
	return a | b
}

// Effects is what a kernel does to memory that outlives it.
type Effects struct {
	// Params has at least one entry for each parameter, in order; a struct has
	// one for each of its eight-byte fields that may be a pointer.
	Params []ParamAccess `json:"params"`
	// Symbols are the .global and .const variables of the module that the
	// kernel touches: arguments that no caller passes.
	Symbols []SymbolAccess `json:"symbols,omitempty"`
	// Opaque says why the kernel may touch memory that no parameter leads to;
	// nil when it cannot.
	Opaque *Reason `json:"opaque,omitempty"`
}

// ParamAccess is what a kernel does through one pointer.
type ParamAccess struct {
	Param  int    `json:"param"`           // index into Func.Params
	Field  int    `json:"field,omitempty"` // byte offset in the parameter; -1: a field not known
	Name   string `json:"name"`
	Access Access `json:"access"`
	// Offset is what the kernel does through addresses it computes with the
	// parameter as a number. It counts when an address is passed after all.
	Offset  Access  `json:"offset,omitzero"`
	ReadAt  ptx.Pos `json:"readAt,omitzero"`  // first load
	WriteAt ptx.Pos `json:"writeAt,omitzero"` // first store; an atomic counts as both
	PlainAt ptx.Pos `json:"plainAt,omitzero"` // first access that is no commuting atomic
	StoreAt ptx.Pos `json:"storeAt,omitzero"` // first place where the value itself is stored to memory
	Why     *Reason `json:"why,omitempty"`    // of AccessUnknown
}

// SymbolAccess is what a kernel does to one variable of its module.
type SymbolAccess struct {
	Name    string  `json:"name"`
	Access  Access  `json:"access"`
	ReadAt  ptx.Pos `json:"readAt,omitzero"`
	WriteAt ptx.Pos `json:"writeAt,omitzero"`
}

// Reason is why the analysis could not tell, and the instruction that stopped it.
type Reason struct {
	File string  `json:"file"`
	Pos  ptx.Pos `json:"pos"`
	Msg  string  `json:"msg"`
}

func (r *Reason) String() string {
	return fmt.Sprintf("%s:%d:%d: %s", r.File, r.Pos.Line, r.Pos.Col, r.Msg)
}
