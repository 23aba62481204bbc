package access

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/reprise-gpu/reprise/internal/absent"
	"github.com/reprise-gpu/reprise/internal/ptx"
)

// Mode is what a declared signature states about a pointer.
type Mode uint8

// ModeNone is the mode of a scalar, all others are modes of pointers.
const (
	ModeNone   Mode = iota // a scalar
	ModeIn                 // only read
	ModeOut                // only written
	ModeInOut              // both
	ModeReduce             // both, by atomics that commute: two launches need no order between them
)

// modeNames are the words of the signature language for modes.
var modeNames = [...]string{"", "in", "out", "inout", "reduce"}

// String returns the word for m in a signature. It is empty for ModeNone.
func (m Mode) String() string {
	if int(m) >= len(modeNames) {
		return fmt.Sprintf("mode(%d)", uint8(m))
	}
	return modeNames[m]
}

// Access returns the access that the mode permits. The order of modes is that of the
// table.
func (m Mode) Access() Access {
	modes := [...]Access{None, Read, Write, ReadWrite, ReadWrite}
	if int(m) >= len(modes) {
		return Unknown
	}
	return modes[m]
}

// Declared is one parameter of a declared signature, such as "x: in f32*" or "n: i32".
type Declared struct {
	Name    string
	Mode    Mode
	Type    ptx.Type
	Pointer bool
	Count   int // elements of a struct passed by value, "s: b8[24]"; otherwise 0
	Col     int // column of the name in the string, from 1
}

// String returns d in the syntax of ParseSignature.
func (d Declared) String() string {
	s := d.Name + ": "
	if d.Pointer {
		s += d.Mode.String() + " "
	}
	s += declaredName(d.Type)
	if d.Pointer {
		s += "*"
	}
	if d.Count > 0 {
		s += fmt.Sprintf("[%d]", d.Count)
	}
	return s
}

// declaredTypes are the types of the signature language. They have the names of
// C and Go rather than those of PTX.
var declaredTypes = []struct {
	name string
	typ  ptx.Type
}{
	{"i8", ptx.S8}, {"i16", ptx.S16}, {"i32", ptx.S32}, {"i64", ptx.S64},
	{"u8", ptx.U8}, {"u16", ptx.U16}, {"u32", ptx.U32}, {"u64", ptx.U64},
	{"f16", ptx.F16}, {"bf16", ptx.BF16}, {"f32", ptx.F32}, {"f64", ptx.F64},
	{"b8", ptx.B8}, {"b16", ptx.B16}, {"b32", ptx.B32}, {"b64", ptx.B64},
}

// declaredName returns the name of typ in the signature language, or its PTX name if the
// language has none.
func declaredName(typ ptx.Type) string {
	for _, d := range declaredTypes {
		if d.typ == typ {
			return d.name
		}
	}
	return typ.String()
}

// ParseSignature parses a declared signature, a list of parameters separated by commas:
//
//	signature = [ parameter { "," parameter } ]
//	parameter = name ":" type                     a scalar
//	          | name ":" type "[" count "]"       a struct passed by value
//	          | name ":" mode type "*"            a pointer
//	mode      = "in" | "out" | "inout" | "reduce"
//
// Errors are of type *ptx.Error, with file "signature", line 1 and the column of the
// token.
func ParseSignature(text string) ([]Declared, error) {
	s := sigScanner{text: text}
	var list []Declared
	if s.peek() == "" {
		return nil, nil
	}
	for {
		d, err := s.param()
		if err != nil {
			return nil, err
		}
		for _, other := range list {
			if other.Name == d.Name {
				return nil, sigError(d.Col, "parameter %s is declared twice", d.Name)
			}
		}
		list = append(list, d)
		switch tok := s.take(); tok {
		case "":
			return list, nil
		case ",":
		default:
			return nil, sigError(s.col, "expected \",\" or the end after parameter %s, found %q", d.Name, tok)
		}
	}
}

// sigError returns an error at a column of the signature.
func sigError(col int, format string, args ...any) error {
	return &ptx.Error{File: "signature", Pos: ptx.Pos{Line: 1, Col: col}, Msg: fmt.Sprintf(format, args...)}
}

// sigScanner splits a signature into names and single characters.
type sigScanner struct {
	text string
	off  int
	col  int // of the last token taken
}

// peek returns the next token without consuming it, "" at the end.
func (s *sigScanner) peek() string {
	for s.off < len(s.text) && strings.IndexByte(" \t\r\n\v\f", s.text[s.off]) >= 0 {
		s.off++
	}
	end := s.off
	for end < len(s.text) && isNameByte(s.text[end]) {
		end++
	}
	if end == s.off && end < len(s.text) {
		end++
	}
	return s.text[s.off:end]
}

// isNameByte reports whether c may be part of a name or a number.
func isNameByte(c byte) bool {
	return c == '_' || c == '$' || c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z'
}

// take consumes the next token and records its column.
func (s *sigScanner) take() string {
	tok := s.peek()
	s.col = s.off + 1
	s.off += len(tok)
	return tok
}

// param parses "name: type", "name: type[n]" or "name: mode type*".
func (s *sigScanner) param() (Declared, error) {
	name := s.take()
	d := Declared{Name: name, Col: s.col}
	if name == "" || !isNameByte(name[0]) {
		return d, sigError(s.col, "expected a parameter name, found %s", orEnd(name))
	}
	if tok := s.take(); tok != ":" {
		return d, sigError(s.col, "expected \":\" after the name %s, found %s", name, orEnd(tok))
	}
	d.Mode = s.mode()
	if err := s.typ(&d); err != nil {
		return d, err
	}
	switch s.peek() {
	case "*":
		s.take()
		d.Pointer = true
	case "[":
		s.take()
		if err := s.count(&d); err != nil {
			return d, err
		}
	}
	switch {
	case d.Pointer && d.Mode == ModeNone:
		return d, sigError(d.Col, "pointer %s needs a mode: in, out, inout or reduce", name)
	case !d.Pointer && d.Mode != ModeNone:
		return d, sigError(d.Col, "%s is %s but not a pointer; write %s* or leave the mode out", name, d.Mode, declaredName(d.Type))
	}
	return d, nil
}

// count parses the "24]" of a struct's size.
func (s *sigScanner) count(d *Declared) error {
	tok := s.take()
	n, err := strconv.Atoi(tok)
	if err != nil || n < 1 || n > 1<<16 {
		return sigError(s.col, "expected the number of elements of %s, found %s", d.Name, orEnd(tok))
	}
	d.Count = n
	if tok := s.take(); tok != "]" {
		return sigError(s.col, "expected \"]\" after the number of elements of %s, found %s", d.Name, orEnd(tok))
	}
	return nil
}

// orEnd quotes a token for an error message.
func orEnd(tok string) string {
	if tok == "" {
		return "the end"
	}
	return fmt.Sprintf("%q", tok)
}

// mode consumes a mode if one follows.
func (s *sigScanner) mode() Mode {
	tok := s.peek()
	for m := ModeIn; m <= ModeReduce; m++ {
		if modeNames[m] == tok {
			s.take()
			return m
		}
	}
	return ModeNone
}

// typ parses the name of a type.
func (s *sigScanner) typ(d *Declared) error {
	tok := s.take()
	var names []string
	for _, t := range declaredTypes {
		if t.name == tok {
			d.Type = t.typ
			return nil
		}
		names = append(names, t.name)
	}
	return sigError(s.col, "%s is not a type of parameter %s: it must be one of %s", orEnd(tok), d.Name, strings.Join(names, ", "))
}

// CheckDeclared compares a declared signature with the code of f. It returns an error if
// the number of parameters or a size differs, and if the declaration permits less than
// the kernel does, since a dependency would then be lost. Permitting more is allowed.
//
// The errors are of type *ptx.Error, joined. Each points to the parameter, or to the load
// or store that contradicts the declaration.
func CheckDeclared(m *ptx.Module, f *ptx.Func, decl []Declared) error {
	if m == nil || f == nil {
		return absent.Nil("the module or the kernel")
	}
	if len(decl) != len(f.Params) {
		return &ptx.Error{File: m.File, Pos: f.Pos, Msg: fmt.Sprintf("the signature declares %d parameters, kernel %s has %d", len(decl), f.Name, len(f.Params))}
	}
	var errs []error
	for i, d := range decl {
		if err := checkSize(m, f.Params[i], d); err != nil {
			errs = append(errs, err)
		}
	}
	for _, p := range Infer(m, f).Params {
		errs = append(errs, checkMode(m, f, decl[p.Param], p)...)
	}
	return errors.Join(errs...)
}

// checkSize compares the size of a parameter with that of its declaration.
func checkSize(m *ptx.Module, v *ptx.Var, d Declared) error {
	size := d.Type.Size() * max(1, d.Count)
	if d.Pointer {
		size = m.AddressSize / 8
	}
	if int64(size) == v.Size() {
		return nil
	}
	return &ptx.Error{File: m.File, Pos: v.Pos, Msg: fmt.Sprintf("parameter %s (%s) is declared as %d bytes, the kernel takes %d", d.Name, v.Name, size, v.Size())}
}

// checkMode reports the load or store that the declaration does not permit. The
// pointers inside a struct cannot be declared, so they are not checked.
func checkMode(m *ptx.Module, f *ptx.Func, d Declared, p ParamAccess) []error {
	if d.Count > 0 {
		return nil
	}
	var errs []error
	claim := d.Mode.Access()
	deny := func(at ptx.Pos, verb string) {
		msg := fmt.Sprintf("kernel %s %s through parameter %s, which is declared as \"%s\"", f.Name, verb, d.Name, d)
		errs = append(errs, &ptx.Error{File: m.File, Pos: at, Msg: msg})
	}
	if !p.ReadAt.IsZero() && claim&Read == 0 {
		deny(p.ReadAt, "loads")
	}
	if !p.WriteAt.IsZero() && claim&Write == 0 {
		deny(p.WriteAt, "stores")
	}
	if d.Mode == ModeReduce && !p.PlainAt.IsZero() {
		deny(p.PlainAt, "does more than atomics that commute")
	}
	return errs
}
