package access

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/internal/ptx"
)

const testHead = ".version 8.7\n.target sm_100\n.address_size 64\n"

// describeEffects is the text form of the goldens.
func describeEffects(e *Effects) string {
	var b strings.Builder
	for _, p := range e.Params {
		fmt.Fprintf(&b, "  %s", p.Name)
		if p.Field != 0 {
			fmt.Fprintf(&b, " byte %d", p.Field)
		}
		fmt.Fprintf(&b, ": %s", p.Access)
		if p.Offset != None {
			fmt.Fprintf(&b, " (%s if an address is passed)", p.Offset)
		}
		for _, at := range []struct {
			name string
			pos  ptx.Pos
		}{{"load", p.ReadAt}, {"store", p.WriteAt}, {"stored itself", p.StoreAt}} {
			if at.pos.Line > 0 {
				fmt.Fprintf(&b, ", %s %d:%d", at.name, at.pos.Line, at.pos.Col)
			}
		}
		b.WriteString("\n")
	}
	for _, s := range e.Symbols {
		fmt.Fprintf(&b, "  variable %s: %s\n", s.Name, s.Access)
	}
	if e.Opaque != nil {
		fmt.Fprintf(&b, "  opaque: %s\n", e.Opaque)
	}
	return b.String()
}

func parseFile(t testing.TB, file string) *ptx.Module {
	src, err := os.ReadFile("../" + file)
	require.NoError(t, err)
	m, err := ptx.Parse(file, string(src))
	require.NoError(t, err)
	return m
}

// TestInfer compares the effects of every kernel of a file ("infer") with the
// golden, which was checked by hand against the comments of the .cu file, and
// those of bodies written for one rule of the analysis each ("body").
func TestInfer(t *testing.T) {
	datadriven.RunTest(t, "testdata/effects", func(t *testing.T, d *datadriven.TestData) string {
		var b strings.Builder
		m := inferInput(t, d)
		for _, f := range m.Funcs {
			if f.Entry {
				fmt.Fprintf(&b, "%s\n%s", f.Name, describeEffects(Infer(m, f)))
			}
		}
		return b.String()
	})
}

func inferInput(t *testing.T, d *datadriven.TestData) *ptx.Module {
	if d.Cmd == "infer" {
		var file string
		d.ScanArgs(t, "file", &file)
		return parseFile(t, "testdata/"+file)
	}
	m, err := ptx.Parse("in.ptx", ".version 9.0 .target sm_100 .address_size 64 "+ // of a later ISA than the table: opcodes may be unknown
		".global .u64 g; .shared .u64 sh[4]; .extern .func ext(.param .b64 a); "+
		".func (.param .b64 r) same(.param .b64 a) { .reg .b64 %rd<2>; ld.param.u64 %rd1, [a]; st.param.b64 [r+0], %rd1; ret; } "+
		".visible .entry k(.param .u64 a, .param .u64 b, .param .u64 n, .param .align 8 .b8 s[32], .param .u32 i) { "+
		".local .align 8 .b8 depot[32]; .reg .pred %p<3>; .reg .b32 %r<5>; .reg .f32 %f<5>; .reg .f64 %fd<3>; .reg .b64 %rd<12>; .reg .b16 %rs<3>; "+
		"ld.param.u64 %rd1, [a]; ld.param.u64 %rd2, [b]; ld.param.u64 %rd3, [n]; ld.param.u32 %r1, [i];\n"+
		d.Input+"\n}\n")
	require.NoError(t, err)
	return m
}

// Infer returns a row for each parameter of every module that parses.
func FuzzInfer(f *testing.F) {
	files, err := filepath.Glob("../testdata/*.ptx")
	require.NoError(f, err)
	for _, file := range files {
		src, err := os.ReadFile(file)
		require.NoError(f, err)
		f.Add(string(src))
	}
	f.Fuzz(func(t *testing.T, src string) {
		if len(src) > 1<<16 {
			return
		}
		m, err := ptx.Parse("fuzz", src)
		if err != nil {
			return
		}
		for _, k := range m.Funcs {
			require.GreaterOrEqual(t, len(Infer(m, k).Params), len(k.Params))
		}
	})
}

func BenchmarkInfer(b *testing.B) {
	m := parseFile(b, "testdata/pointers.ptx")
	b.ReportAllocs()
	for b.Loop() {
		for _, f := range m.Funcs {
			if f.Entry {
				Infer(m, f)
			}
		}
	}
}
