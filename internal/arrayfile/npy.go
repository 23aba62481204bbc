package arrayfile

import (
	"encoding/binary"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/reprise-gpu/reprise/ir"
)

// magic begins a .npy file: see numpy.lib.format. Two bytes with the version follow, then the length of the header, which is
// the text of a Python dictionary.
const magic = "\x93NUMPY"

// descriptions are the types of elements as NumPy writes them. It has none for BF16.
var descriptions = map[ir.Type]string{
	ir.U8: "|u1", ir.I8: "|i1", ir.U16: "<u2", ir.I16: "<i2", ir.F16: "<f2", ir.U32: "<u4", ir.I32: "<i4", ir.F32: "<f4",
	ir.U64: "<u8", ir.I64: "<i8", ir.F64: "<f8",
}

var (
	descrField = regexp.MustCompile(`'descr':\s*'([^']*)'`)
	orderField = regexp.MustCompile(`'fortran_order':\s*(True|False)`)
	shapeField = regexp.MustCompile(`'shape':\s*\(([0-9, ]*)\)`)
)

// decodeNPY returns the elements of an array of any shape in C order.
func decodeNPY(t ir.Type, file []byte) ([]byte, error) {
	header, data, err := cutHeader(file)
	if err != nil {
		return nil, err
	}
	descr, order, shape := descrField.FindStringSubmatch(header), orderField.FindStringSubmatch(header), shapeField.FindStringSubmatch(header)
	if descr == nil || order == nil || shape == nil {
		return nil, fmt.Errorf("its header %q lacks the type, the order or the shape of an array of numbers", header)
	}
	n, dims, err := count(shape[1])
	switch {
	case err != nil:
		return nil, err
	case descr[1] != descriptions[t]:
		return nil, fmt.Errorf("its elements are %s, and %s is needed: convert it in NumPy with astype", descr[1], wanted(t))
	case order[1] == "True" && dims > 1:
		return nil, errors.New("it is in Fortran order: convert it with numpy.ascontiguousarray")
	case n != int64(len(data))/t.Size() || int64(len(data))%t.Size() != 0:
		return nil, fmt.Errorf("its shape is (%s), and it has %d bytes of data", shape[1], len(data))
	}
	return data, nil
}

func wanted(t ir.Type) string {
	if d, ok := descriptions[t]; ok {
		return d
	}
	return t.String() + ", which NumPy lacks,"
}

// cutHeader splits a file into the text of its header and the data.
func cutHeader(file []byte) (header string, data []byte, err error) {
	rest, ok := strings.CutPrefix(string(file[:min(len(file), 12)]), magic)
	if !ok || len(rest) < 4 || rest[0] > 1 && len(rest) < 6 {
		return "", nil, errors.New("it is not a file of NumPy")
	}
	begin, length := 10, int64(binary.LittleEndian.Uint16(file[8:]))
	if major := rest[0]; major > 1 {
		begin, length = 12, int64(binary.LittleEndian.Uint32(file[8:]))
	}
	end := int64(begin) + length
	if end > int64(len(file)) {
		return "", nil, errors.New("it is not complete: the header ends behind the file")
	}
	return string(file[begin:end]), file[end:], nil
}

// count returns the number of elements of a shape, "2, 3" or "4,", and its number of dimensions.
func count(shape string) (n int64, dims int, err error) {
	n = 1
	for field := range strings.SplitSeq(shape, ",") {
		if field = strings.TrimSpace(field); field == "" {
			continue
		}
		extent, err := strconv.ParseInt(field, 10, 40)
		if err != nil || extent > 0 && n > 1<<40/extent {
			return 0, 0, fmt.Errorf("its shape (%s) is too large", shape)
		}
		n *= extent
		dims++
	}
	return n, dims, nil
}

// encodeNPY returns an array of one dimension. The header is padded so that the data begin at a multiple of 64 bytes.
func encodeNPY(t ir.Type, data []byte) ([]byte, error) {
	descr, ok := descriptions[t]
	if !ok {
		return nil, fmt.Errorf("NumPy has no type for %v: write raw bytes, to a name with another end", t)
	}
	header := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': (%d,), }", descr, int64(len(data))/t.Size())
	header += strings.Repeat(" ", (64-(10+len(header)+1)%64)%64) + "\n"
	file := append([]byte(magic), 1, 0)
	file = binary.LittleEndian.AppendUint16(file, uint16(len(header)))
	return append(append(file, header...), data...), nil
}
