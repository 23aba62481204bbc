package interp

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/reprise-gpu/reprise/ptx"
	"github.com/stretchr/testify/require"
)

// opTest is one instruction run on one thread per row of inputs: %a, %b, %c are
// loaded, the instruction runs, %d is stored.
type opTest struct {
	body    string
	dst     string
	sources []string
}

func isPred(typ string) bool { return typ == "pred" }

func typeSize(typ string) int {
	if isPred(typ) {
		return 4
	}
	t, ok := ptx.ParseType(typ)
	if !ok {
		panic("unknown type " + typ)
	}
	return t.Size()
}

func regType(typ string) string {
	if isPred(typ) {
		return "pred"
	}
	return fmt.Sprintf("b%d", 8*max(2, typeSize(typ)))
}

// source is the PTX of the test's kernel.
func (o opTest) source() string {
	var b strings.Builder
	fmt.Fprintf(&b, ".version 7.8\n.target sm_75\n.address_size 64\n.visible .entry op(.param .u64 out")
	for i := range o.sources {
		fmt.Fprintf(&b, ", .param .u64 in%d", i)
	}
	fmt.Fprintf(&b, ")\n{\n.reg .b32 %%tid, %%t<8>;\n.reg .b64 %%at, %%idx, %%u<8>;\n.reg .b16 %%h<8>;\n.reg .pred %%p<8>;\n.reg .%s %%d;\n",
		regType(o.dst))
	fmt.Fprintf(&b, "mov.u32 %%tid, %%tid.x;\ncvt.u64.u32 %%idx, %%tid;\n")
	for i, typ := range o.sources {
		reg := string(rune('a' + i))
		fmt.Fprintf(&b, ".reg .%s %%%s;\nld.param.u64 %%at, [in%d];\nmad.lo.s64 %%at, %%idx, %d, %%at;\n", regType(typ), reg, i, typeSize(typ))
		if isPred(typ) {
			fmt.Fprintf(&b, "ld.global.u32 %%t7, [%%at];\nsetp.ne.u32 %%%s, %%t7, 0;\n", reg)
		} else {
			fmt.Fprintf(&b, "ld.global.b%d %%%s, [%%at];\n", 8*typeSize(typ), reg)
		}
	}
	fmt.Fprintf(&b, "%s\nld.param.u64 %%at, [out];\nmad.lo.s64 %%at, %%idx, %d, %%at;\n", o.body, typeSize(o.dst))
	if isPred(o.dst) {
		fmt.Fprintf(&b, "selp.u32 %%t7, 1, 0, %%d;\nst.global.u32 [%%at], %%t7;\n")
	} else {
		fmt.Fprintf(&b, "st.global.b%d [%%at], %%d;\n", 8*typeSize(o.dst))
	}
	fmt.Fprintf(&b, "ret;\n}\n")
	return b.String()
}

// run gives the result's bits for each row of input bits.
func (o opTest) run(t testing.TB, rows [][]uint64) ([]uint64, error) {
	d := open(t, "op.ptx", o.source())
	args := []any{o.buffer(d, o.dst, len(rows), nil)}
	for i, typ := range o.sources {
		args = append(args, o.buffer(d, typ, len(rows), func(row int) uint64 { return rows[row][i] }))
	}
	_, f := d.kernel("op").Run(d.mem, Launch{Grid: dims(1, 1, 1), Block: dims(uint32(len(rows)), 1, 1), Params: params(args...)})
	if f != nil {
		return nil, f
	}
	out := make([]uint64, len(rows))
	data := contents[byte](d, args[0].(uint64))
	for i := range out {
		for k := range typeSize(o.dst) {
			out[i] |= uint64(data[i*typeSize(o.dst)+k]) << (8 * k)
		}
	}
	return out, nil
}

func (o opTest) buffer(d *device, typ string, n int, value func(row int) uint64) uint64 {
	size := typeSize(typ)
	data := make([]byte, n*size)
	for i := range data {
		if value != nil {
			data[i] = byte(value(i/size) >> (8 * (i % size)))
		}
	}
	return buffer(d, typ, data)
}

// bitsOf reads a value of a type; 0x gives the bits of any type.
func bitsOf(typ, s string) (uint64, error) {
	if strings.HasPrefix(s, "0x") {
		return strconv.ParseUint(s[2:], 16, 64)
	}
	switch typ {
	case "f16", "f32", "f64":
		f, err := strconv.ParseFloat(s, 64)
		switch typ {
		case "f16":
			return uint64(half(f)), err
		case "f32":
			f, err = strconv.ParseFloat(s, 32)
			return uint64(math.Float32bits(float32(f))), err
		}
		return math.Float64bits(f), err
	}
	if s[0] == '-' {
		v, err := strconv.ParseInt(s, 0, 64)
		return uint64(v), err
	}
	return strconv.ParseUint(s, 0, 64)
}

// show prints bits as a value of the type.
func show(typ string, v uint64) string {
	switch {
	case typ == "f64":
		return strconv.FormatFloat(math.Float64frombits(v), 'g', -1, 64)
	case typ == "f32":
		return strconv.FormatFloat(float64(math.Float32frombits(uint32(v))), 'g', -1, 32)
	case typ == "f16":
		return strconv.FormatFloat(fromHalf(uint16(v)), 'g', -1, 64)
	case typ[0] == 's':
		return strconv.FormatInt(int64(signExtend(v, typeSize(typ), true)), 10)
	case typ[0] == 'b':
		return fmt.Sprintf("0x%0*x", 2*typeSize(typ), v)
	}
	return strconv.FormatUint(v, 10)
}

// TestOps runs testdata/op: "op dst src…", the instructions and after a line
// with "--" the rows of inputs.
func TestOps(t *testing.T) {
	datadriven.Walk(t, "testdata/op", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, td *datadriven.TestData) string {
			require.Equal(t, "op", td.Cmd)
			var typs []string
			for _, a := range td.CmdArgs {
				typs = append(typs, a.Key)
			}
			body, input, ok := strings.Cut(td.Input, "\n--\n")
			require.True(t, ok, "%s: no -- between instructions and inputs", td.Pos)
			o := opTest{body: body, dst: typs[0], sources: typs[1:]}
			var rows [][]uint64
			for _, line := range strings.Split(input, "\n") {
				var row []uint64
				for i, field := range strings.Fields(line) {
					v, err := bitsOf(o.sources[i], field)
					require.NoError(t, err, td.Pos)
					row = append(row, v)
				}
				require.Len(t, row, len(o.sources), td.Pos)
				rows = append(rows, row)
			}
			out, err := o.run(t, rows)
			if err != nil {
				return err.Error() + "\n"
			}
			var b strings.Builder
			for _, v := range out {
				fmt.Fprintln(&b, show(o.dst, v))
			}
			return b.String()
		})
	})
}
