package interp

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/reprise-gpu/reprise/internal/unit"
)

// programHeader opens a test program: "out" is an array of 64 zero words, and
// %at points at the thread's own word of it.
const programHeader = `.version 8.7
.target sm_90
.address_size 64
`

const programEntry = `.visible .entry main(.param .u64 out, .param .u64 in, .param .align 8 .b8 pair[16])
{
.reg .b32 %r<16>, %tid; .reg .b64 %rd<16>, %out, %in, %at, %i; .reg .f32 %f<8>; .reg .f64 %fd<4>; .reg .pred %p<8>, %q; .reg .b16 %h<8>;
ld.param.u64 %out, [out]; ld.param.u64 %in, [in]; mov.u32 %tid, %tid.x;
mul.wide.u32 %i, %tid, 4; add.s64 %at, %out, %i;
`

// TestPrograms runs testdata/program/*. The directive "run" gives a body. Text before a
// line "--" is put at module scope. The output is the first n words of out, printed as
// type. The array "in" holds 0x80, 0x81, … in its 256 bytes.
func TestPrograms(t *testing.T) {
	datadriven.Walk(t, "testdata/program", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, td *datadriven.TestData) string {
			l := Launch{Grid: dims(1, 1, 1), Block: dims(1, 1, 1)}
			n, typ, shared := 8, "u32", 0
			td.MaybeScanArgs(t, "n", &n)
			td.MaybeScanArgs(t, "type", &typ)
			td.MaybeScanArgs(t, "shared", &shared)
			for i, name := range []string{"x", "y", "z"} {
				td.MaybeScanArgs(t, name, &l.Block[i])
				td.MaybeScanArgs(t, "g"+name, &l.Grid[i])
			}
			l.Shared = uint32(shared)
			module, body, ok := strings.Cut(td.Input, "\n--\n")
			if !ok {
				module, body = "", td.Input
			}
			d := open(t, "main.ptx", programHeader+module+"\n"+programEntry+body+"\n}\n")
			in := make([]byte, 256)
			for i := range in {
				in[i] = byte(0x80 + i)
			}
			out := buffer(d, "out", make([]uint32, 64))
			l.Params = params(out, buffer(d, "in", in), uint64(0x1122334455667788), float32(1.5), uint32(9))
			s, f := d.kernel("main").Run(d.mem, l)
			if f != nil {
				return f.Error() + "\n"
			}
			if td.HasArg("stats") {
				return printStats(&s)
			}
			return printWords(contents[uint32](d, out)[:n], typ)
		})
	})
}

func printStats(s *Stats) string {
	units := ""
	for u := range unit.Count {
		if n := s.Work[u]; n > 0 {
			units += fmt.Sprintf(", %s %g", u, n)
		}
	}
	flops := ""
	if s.Flops > 0 {
		flops = fmt.Sprintf(", flops %d", s.Flops)
	}
	return fmt.Sprintf("warp insts %d, lane insts %d%s\nslowest block %g cycles, %g trips%s\nsectors %d-%d+%d, atomics %d in %d updates of %d lines\n",
		s.WarpInsts, s.LaneInsts, flops, s.Slowest.Cycles, s.Slowest.Trips, units,
		s.SectorsRead, s.SectorsRead-s.SectorsMissed, s.SectorsWrite, s.Atomics, s.Updates, s.UpdatedLines)
}

// printWords prints eight values a line.
func printWords(v []uint32, typ string) string {
	var b strings.Builder
	for i, w := range v {
		end := " "
		if i%8 == 7 || i == len(v)-1 {
			end = "\n"
		}
		b.WriteString(show(typ, uint64(w)) + end)
	}
	return b.String()
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
