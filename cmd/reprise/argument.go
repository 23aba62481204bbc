package main

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/reprise-gpu/reprise/ir"
)

// argument is a kernel argument from the command line: a scalar, or a buffer
// with its first contents.
type argument struct {
	text   string
	buffer bool
	elem   ir.Type
	scalar uint64 // bits
	data   []byte
	zeros  int64 // bytes to be appended to data
}

// maxBuffer bounds a buffer given on the command line, in bytes.
const maxBuffer = 16 << 30

// parseArgument reads one --arg:
//
//	i32=5            a scalar
//	buf:f32=1,2,3    a buffer with these elements
//	buf:u8@FILE      a buffer with the bytes of a file
//	zero:f32*1024    a buffer of 1024 zeros
func parseArgument(text string) (argument, error) {
	a := argument{text: text}
	var err error
	switch kind, rest, _ := strings.Cut(text, ":"); {
	case kind == "buf" && strings.Contains(rest, "@"):
		err = a.fromFile(rest)
	case kind == "buf":
		err = a.fromList(rest)
	case kind == "zero":
		err = a.fromCount(rest)
	default:
		err = a.fromScalar(text)
	}
	var file *fs.PathError
	switch {
	case errors.As(err, &file):
		return a, fmt.Errorf("--arg %s: %w", text, err) // an error of the file, not of the command line
	case err != nil:
		return a, usagef("--arg %s: %w", text, err)
	}
	return a, nil
}

// elementTypes are the types of scalars and of elements of buffers.
var elementTypes = []ir.Type{ir.U8, ir.I8, ir.U16, ir.I16, ir.U32, ir.I32, ir.U64, ir.I64, ir.F32, ir.F64}

func (a *argument) typed(name string) (err error) {
	i := slices.IndexFunc(elementTypes, func(t ir.Type) bool { return t.String() == name })
	if i < 0 {
		return fmt.Errorf("unknown type %q: use u8 i8 u16 i16 u32 i32 u64 i64 f32 f64", name)
	}
	a.elem = elementTypes[i]
	return nil
}

func (a *argument) fromScalar(text string) error {
	name, value, ok := strings.Cut(text, "=")
	if !ok {
		return fmt.Errorf("write a scalar as i32=5, a buffer as buf:f32=1,2,3, buf:u8@FILE or zero:f32*1024")
	}
	if err := a.typed(name); err != nil {
		return err
	}
	var err error
	a.scalar, err = parseElement(a.elem, value)
	return err
}

func (a *argument) fromList(rest string) error {
	a.buffer = true
	name, list, ok := strings.Cut(rest, "=")
	if !ok {
		return fmt.Errorf("write the elements behind =, as in buf:f32=1,2,3")
	}
	if err := a.typed(name); err != nil {
		return err
	}
	if list == "" {
		return nil
	}
	for field := range strings.SplitSeq(list, ",") {
		bits, err := parseElement(a.elem, strings.TrimSpace(field))
		if err != nil {
			return err
		}
		a.data = binary.LittleEndian.AppendUint64(a.data, bits)[:len(a.data)+int(a.elem.Size())]
	}
	return nil
}

func (a *argument) fromFile(rest string) error {
	a.buffer = true
	name, path, _ := strings.Cut(rest, "@")
	if err := a.typed(name); err != nil {
		return err
	}
	read := readFile
	if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
		read = os.ReadFile // a regular file has an end, and a buffer may be larger than other inputs
	}
	data, err := read(path)
	if err != nil {
		return err
	}
	if size := int(a.elem.Size()); len(data)%size != 0 {
		return fmt.Errorf("%s has %d bytes, not a multiple of the %d of %v", path, len(data), size, a.elem)
	}
	a.data = data
	return nil
}

func (a *argument) fromCount(rest string) error {
	a.buffer = true
	name, count, ok := strings.Cut(rest, "*")
	if !ok {
		return fmt.Errorf("write the number of elements behind *, as in zero:f32*1024")
	}
	if err := a.typed(name); err != nil {
		return err
	}
	n, err := strconv.ParseInt(count, 10, 64)
	if err != nil || n < 0 || n > maxBuffer/a.elem.Size() {
		return fmt.Errorf("%q is not a number of elements from 0 to %d", count, maxBuffer/a.elem.Size())
	}
	a.zeros = n * a.elem.Size()
	return nil
}

// parseElement reads a number as the bits of type t.
func parseElement(t ir.Type, text string) (uint64, error) {
	if t == ir.F32 || t == ir.F64 {
		bits := int(8 * t.Size())
		f, err := strconv.ParseFloat(text, bits)
		if err != nil {
			return 0, fmt.Errorf("%q is no %v", text, t)
		}
		if t == ir.F32 {
			return uint64(math.Float32bits(float32(f))), nil
		}
		return math.Float64bits(f), nil
	}
	if n, err := strconv.ParseInt(text, 0, 64); err == nil {
		if s, err := ir.NewScalar(t, n); err == nil {
			return s.Bits, nil
		}
	} else if n, err := strconv.ParseUint(text, 0, 64); err == nil {
		if s, err := ir.NewScalar(t, n); err == nil {
			return s.Bits, nil
		}
	}
	return 0, fmt.Errorf("%q is no %v", text, t)
}

// formatElements prints the elements of a buffer, separated by spaces.
func formatElements(t ir.Type, data []byte) string {
	var b []byte
	size := int(t.Size())
	for i := 0; i < len(data); i += size {
		if i > 0 {
			b = append(b, ' ')
		}
		b = appendElement(b, t, data[i:i+size])
	}
	return string(b)
}

func appendElement(b []byte, t ir.Type, data []byte) []byte {
	var word [8]byte
	copy(word[:], data)
	bits := binary.LittleEndian.Uint64(word[:])
	unused := 64 - 8*uint(t.Size())
	switch t {
	case ir.F32:
		return strconv.AppendFloat(b, float64(math.Float32frombits(uint32(bits))), 'g', -1, 32)
	case ir.F64:
		return strconv.AppendFloat(b, math.Float64frombits(bits), 'g', -1, 64)
	case ir.I8, ir.I16, ir.I32, ir.I64:
		return strconv.AppendInt(b, int64(bits)<<unused>>unused, 10)
	}
	return strconv.AppendUint(b, bits, 10)
}
