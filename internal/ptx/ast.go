package ptx

import (
	"fmt"
	"slices"
)

// Pos is a place in a PTX file. Lines and columns count from 1, columns in bytes.
type Pos struct{ Line, Col int }

// IsZero reports whether p is unset.
func (p Pos) IsZero() bool { return p.Line == 0 }

// Loc is a line of the source that the PTX was compiled from, as given by .loc. In the zero
// Loc the line is unknown.
type Loc struct{ File, Line int32 } // File is a key of Module.Files

// Error is a diagnostic about a PTX file.
type Error struct {
	File string
	Pos  Pos
	Msg  string
}

// Error returns "file:line:column: message".
func (e *Error) Error() string {
	return fmt.Sprintf("%s:%d:%d: %s", e.File, e.Pos.Line, e.Pos.Col, e.Msg)
}

// Type is a fundamental type of the ISA, or a packed type of instructions. The order of the
// constants groups the families; methods such as Float and Integer compare with the ends of a
// group.
type Type uint8

// bN are untyped bits, uN and sN unsigned and signed integers, and types with x2 two packed
// numbers.
const (
	NoType Type = iota
	Pred
	B8
	B16
	B32
	B64
	B128
	U8
	U16
	U32
	U64
	S8
	S16
	S32
	S64
	F16
	F16X2
	BF16
	BF16X2
	F32
	F64
	U16X2
	S16X2
	F32X2
)

// Space is a state space. Generic means that an instruction names no space: its address may
// point to .global, .shared, .local, .const or .param.
type Space uint8

// The state spaces of the ISA.
const (
	Generic Space = iota
	RegSpace
	ParamSpace
	Global
	Shared
	Local
	Const
)

// Module is one PTX file. Names are unique among its variables and functions.
type Module struct {
	File        string
	Version     string // "7.8"
	Target      string // "sm_75"
	AddressSize int    // 32 or 64
	Vars        []*Var // module scope, in order of declaration
	Funcs       []*Func
	Files       map[int32]string // the numbered sources of .file
}

// Source returns a line of the source as "name:line", or "" if it is not known.
func (m *Module) Source(l Loc) string {
	if name := m.Files[l.File]; name != "" && l.Line > 0 {
		return fmt.Sprintf("%s:%d", name, l.Line)
	}
	return ""
}

// Func returns the function or kernel with the given name, or nil. For an alias it returns the
// function that is named by .alias.
func (m *Module) Func(name string) *Func {
	for _, f := range m.Funcs {
		if f.Name == name {
			if f.Alias != "" {
				return m.Func(f.Alias)
			}
			return f
		}
	}
	return nil
}

// Linkage is the visibility of a function or a variable to other modules.
type Linkage uint8

// The linkages, by their directives.
const (
	Static   Linkage = iota // this module only
	Visible                 // .visible
	Weak                    // .weak
	External                // .extern
	Common                  // .common
)

// Statics returns the variables that exist as long as the module: those of
// module scope, and the .global and .const variables declared inside functions.
func (m *Module) Statics() []*Var {
	list := slices.Clone(m.Vars)
	for _, f := range m.Funcs {
		for _, v := range f.Vars {
			if v.Space == Global || v.Space == Const {
				list = append(list, v)
			}
		}
	}
	return list
}

// Func is a kernel (.entry) or a device function (.func).
//
// Invariants after Parse: register operands are indices into Regs or NoReg, label operands have
// a Target of at most len(Body), and Body is empty if Extern is set.
type Func struct {
	Pos    Pos
	Name   string
	Entry  bool
	Extern bool   // declared, no body
	Alias  string // set by .alias: the name of the function with the body
	Link   Linkage
	Params []*Var
	Return []*Var
	Regs   []Reg  // indexed by RegID
	Vars   []*Var // .shared, .local and call-scope .param variables of the body
	Body   []Inst
	// Labels maps each label to the index in Body of the next instruction.
	Labels map[string]int // label -> index into Body of the next instruction
	Protos []*Prototype   // of indirect calls, in order of declaration

	MaxThreads [3]uint32 // .maxntid, zero if absent
	ReqThreads [3]uint32 // .reqntid, zero if absent
	MinBlocks  uint32    // .minnctapersm
	MaxRegs    uint32    // .maxnreg, registers per thread, zero if absent
	Cluster    bool      // has a directive about clusters of blocks; Print drops it
}

// ParamBytes returns the size of the parameter block of f, in bytes.
func (f *Func) ParamBytes() int {
	if len(f.Params) == 0 {
		return 0
	}
	last := f.Params[len(f.Params)-1]
	return last.Offset + int(last.Size())
}

// Prototype is a .callprototype, the signature of an indirect call, or a .calltargets, the list
// of functions that such a call may reach.
type Prototype struct {
	Pos     Pos
	Name    string
	Params  []*Var
	Return  []*Var
	Targets []string // of .calltargets; the signature is that of the first
}

// RegID is an index into Func.Regs, or NoReg for no register and for the sink
// "_".
type RegID int32

// NoReg is the RegID of operands without a register, and of the sink "_".
const NoReg RegID = -1

// Reg is a declared register.
type Reg struct {
	Name string
	Type Type
}

// Var is a variable of any space but .reg, or a parameter. For example:
//
//	.shared .align 8 .v2 .f32 tile[16][4]      Type F32, Align 8, Dims {16, 4, 2}, vector 1
//	.extern .shared .b8 buffer[]               Type B8, Dims {0}, Extern
//	.param .align 8 .b8 s[24]                  Type B8, Align 8, Dims {24}
type Var struct {
	Pos    Pos
	Name   string
	Space  Space
	Type   Type
	Align  int     // bytes; the natural alignment if not given
	Dims   []int64 // array extents; nil for a scalar; a first extent of 0 means "[]"
	Extern bool
	Link   Linkage
	Init   []byte  // initial bytes, nil if there are none
	Relocs []Reloc // symbol addresses inside Init
	Offset int     // parameters: byte offset in the parameter block
	Ptr    PtrAttr // parameters: the .ptr attribute, if present
	vector int     // the number of Dims that come from a vector type, 0 or 1
	Handle string  // texref, samplerref or surfref for a handle, whose type is B64
}

// Reloc is a relocation: byte Offset of an initializer holds the address of
// Symbol plus Addend.
type Reloc struct {
	Offset  int64
	Symbol  string
	Addend  int64
	Generic bool // generic(sym)
}

// PtrAttr is the .ptr attribute of a kernel parameter.
type PtrAttr struct {
	Present bool
	Space   Space
	Align   int
}

// Size returns the variable's size in bytes, 0 for "[]".
func (v *Var) Size() int64 {
	n := int64(v.Type.Size())
	for _, d := range v.Dims {
		n *= d
	}
	return n
}

// Inst is one instruction. The opcode "ld.global.nc.v4.f32" has the name "ld" and the suffixes
// global, nc, v4, f32:
//
//	@!%p1 ld.global.v2.f32 {%f1, %f2}, [%rd4+8];
//
//	Guard  {Reg: %p1, Neg: true}
//	Name   "ld"
//	Suffix "global", "v2", "f32"
//	Args   0: OpVector, Elems %f1, %f2
//	       1: OpMem, Reg %rd4, Imm 8
type Inst struct {
	Pos    Pos
	Loc    Loc // Print drops it, as it drops positions
	Guard  Guard
	Name   string
	Suffix []string  // shared by all instructions with this opcode: read-only
	Args   []Operand // destinations first, as written
}

// Guard is the predicate of an instruction; Reg is NoReg if it has none.
type Guard struct {
	Reg RegID
	Neg bool
}

// OperandKind selects the fields of an Operand that are used.
type OperandKind uint8

// The kinds of operands, with the fields that each uses.
const (
	OpReg     OperandKind = iota // Reg; NoReg is the sink "_"; Neg for !%p and -%r; Name is the part of a video operand, "h1" in %r.h1
	OpPair                       // Reg|Reg2, the two destinations of setp or shfl
	OpInt                        // Imm, as a 64-bit two's complement integer
	OpFloat32                    // Imm holds the 32 bits of 0f…
	OpFloat64                    // Imm holds the 64 bits of 0d… or of a decimal literal
	OpSpecial                    // Name, with its axis: "%tid.x", "%laneid"
	OpSymbol                     // address of Var (or function Name) plus Imm
	OpMem                        // [Reg+Imm], or [Var+Imm] when Reg is NoReg, or [Imm]; Elems holds the coordinates of a texture access
	OpVector                     // {Elems…}, with the predicate Reg2 of {…}|p
	OpLabel                      // branch target Name, index Target into Body
	OpFunc                       // callee or prototype Name
	OpList                       // (Elems…), the parameters of a call or the labels of a branch table
)

// Operand is one operand of an instruction. Kind selects the fields that are used; Reg and Reg2
// are NoReg where they are not.
type Operand struct {
	Pos    Pos
	Kind   OperandKind
	Neg    bool
	Reg    RegID
	Reg2   RegID
	Imm    int64
	Var    *Var
	Name   string
	Target int
	Elems  []Operand
}
