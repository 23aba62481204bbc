package arrayfile_test

import (
	"encoding/binary"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/internal/arrayfile"
	"github.com/reprise-gpu/reprise/ir"
)

var types = []ir.Type{ir.U8, ir.I8, ir.U16, ir.I16, ir.F16, ir.BF16, ir.U32, ir.I32, ir.F32, ir.U64, ir.I64, ir.F64}

var formats = []string{"x.bin", "x.npy", "x.txt", "X.CSV"}

// TestFilesRoundTrip writes and reads all types in all formats.
func TestFilesRoundTrip(t *testing.T) {
	for _, name := range formats {
		for _, typ := range types {
			for n := range int64(5) {
				data := make([]byte, n*typ.Size())
				for i := range data {
					data[i] = byte(i*37 + 11)
				}
				file, err := arrayfile.Encode(name, typ, data)
				if name == "x.npy" && typ == ir.BF16 {
					assert.ErrorContains(t, err, "NumPy has no type for bf16")
					continue
				}
				require.NoError(t, err)
				back, err := arrayfile.Decode(name, typ, n, file)
				require.NoError(t, err, "%s of %d %v", name, n, typ)
				require.Equal(t, data, back, "%s of %d %v", name, n, typ)
			}
		}
	}
}

// TestFilesOfNumPy reads headers that NumPy 2 writes, and what NumPy accepts.
func TestFilesOfNumPy(t *testing.T) {
	header := func(version byte, text string) string {
		length := []byte{byte(len(text)), byte(len(text) >> 8), 0, 0}
		if version == 1 {
			length = length[:2]
		}
		return "\x93NUMPY" + string([]byte{version, 0}) + string(length) + text
	}
	ones := string(binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(nil, math.Float32bits(1)), math.Float32bits(2)))
	for _, c := range []struct{ file, err string }{
		{header(1, "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }   \n") + ones, ""},
		{header(1, "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 2), }\n") + ones, ""},
		{header(1, "{'descr': '<f4', 'fortran_order': True, 'shape': (2,), }\n") + ones, ""},
		{header(2, "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }\n") + ones, ""},
		{header(1, "{'descr': '<f4', 'fortran_order': True, 'shape': (1, 2), }\n") + ones, "it is in Fortran order: convert it with numpy.ascontiguousarray"},
		{header(1, "{'descr': '<f8', 'fortran_order': False, 'shape': (1,), }\n") + ones, "its elements are <f8, and <f4 is needed: convert it in NumPy with astype"},
		{header(1, "{'descr': '<f4', 'fortran_order': False, 'shape': (1,), }\n") + ones[:4], "it has 1 elements, and 2 are needed"},
		{header(1, "{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }\n") + ones, "its shape is (3,), and it has 8 bytes of data"},
		{header(1, "{'descr': '<f4', 'fortran_order': False, 'shape': (99999999, 99999999, 99999999), }\n"), "its shape (99999999, 99999999, 99999999) is too large"},
		{header(1, "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (2,), }\n") + ones, "its header \"{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (2,), }\\n\" lacks the type, the order or the shape of an array of numbers"},
		{"\x93NUMPY\x01\x00\xff\xff{", "it is not complete: the header ends behind the file"},
		{"\x93NUMPY", "it is not a file of NumPy"},
		{"1 2", "it is not a file of NumPy"},
	} {
		data, err := arrayfile.Decode("x.npy", ir.F32, 2, []byte(c.file))
		if c.err != "" {
			assert.EqualError(t, err, c.err)
			continue
		}
		require.NoError(t, err)
		assert.Equal(t, ones, string(data))
	}
}

// TestTextAndRawFiles lists what is accepted and what is not.
func TestTextAndRawFiles(t *testing.T) {
	data, err := arrayfile.Decode("x.txt", ir.I16, 4, []byte("1, -2\n3,\t0x7fff\n"))
	require.NoError(t, err)
	assert.Equal(t, []byte{1, 0, 0xfe, 0xff, 3, 0, 0xff, 0x7f}, data)
	for _, c := range []struct{ name, file, err string }{
		{"x.txt", "1 2\n3 70000", "line 2: 70000 does not fit in i16"},
		{"x.csv", "1 2\n\n3.5", "line 3: \"3.5\" is not a value of type i16"},
		{"x.txt", "1 2", "it has 2 elements, and 4 are needed"},
		{"x.f32", "1234567", "it has 7 bytes, and 4 elements of i16 have 8: as raw data, a file has exactly these"},
	} {
		_, err := arrayfile.Decode(c.name, ir.I16, 4, []byte(c.file))
		assert.EqualError(t, err, c.err)
	}
}

// FuzzDecode reads any file in any format. What is accepted has the right size, and reads back from what Encode writes.
func FuzzDecode(f *testing.F) {
	for i, name := range formats {
		for _, typ := range types {
			if file, err := arrayfile.Encode(name, typ, make([]byte, 2*typ.Size())); err == nil {
				f.Add(uint8(i), uint8(typ), file)
			}
		}
	}
	f.Fuzz(func(t *testing.T, format, kind uint8, file []byte) {
		name, typ := formats[int(format)%len(formats)], types[int(kind)%len(types)]
		data, err := arrayfile.Decode(name, typ, 2, file)
		if err != nil {
			require.NotEmpty(t, strings.TrimSpace(err.Error()))
			return
		}
		require.Len(t, data, 2*int(typ.Size()))
		again, err := arrayfile.Encode(name, typ, data)
		require.NoError(t, err)
		back, err := arrayfile.Decode(name, typ, 2, again)
		require.NoError(t, err)
		require.Equal(t, data, back)
	})
}
