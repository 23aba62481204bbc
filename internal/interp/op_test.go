package interp

import (
	"fmt"
	"strings"
	"testing"

	"github.com/reprise-gpu/reprise/internal/ptx"
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
	fmt.Fprintf(&b, ".version 7.8\n.target sm_90\n.address_size 64\n.visible .entry op(.param .u64 out")
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
