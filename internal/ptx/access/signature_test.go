package access

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/internal/ptx"
)

// TestSignature prints parameters with their layout, and whether they are used as pointers.
func TestSignature(t *testing.T) {
	datadriven.RunTest(t, "testdata/signatures", func(t *testing.T, d *datadriven.TestData) string {
		m, err := ptx.Parse("in.ptx", testHead+d.Input)
		if err != nil {
			return err.Error() + "\n"
		}
		var b strings.Builder
		for _, f := range m.Funcs {
			fmt.Fprintf(&b, "%s: %d bytes\n", f.Name, f.ParamBytes())
			for _, p := range Signature(m, f) {
				fmt.Fprintf(&b, "  %d %s %s, %d bytes at %d", p.Index, p.Name, p.Type, p.Size, p.Offset)
				if p.Pointer {
					b.WriteString(", pointer")
				}
				b.WriteString("\n")
			}
		}
		return b.String()
	})
}

// TestDeclared reads declared signatures ("signature") and holds them against
// kernels of testdata ("check file=… kernel=…").
func TestDeclared(t *testing.T) {
	datadriven.RunTest(t, "testdata/declared", func(t *testing.T, d *datadriven.TestData) string {
		decl, err := ParseSignature(d.Input)
		if err != nil {
			return err.Error() + "\n"
		}
		switch d.Cmd {
		case "signature":
			var b strings.Builder
			for _, p := range decl {
				fmt.Fprintf(&b, "%s\n", p)
			}
			return b.String()
		case "check":
			var file, kernel string
			d.ScanArgs(t, "file", &file)
			d.ScanArgs(t, "kernel", &kernel)
			m := parseFile(t, "testdata/"+file)
			if err := CheckDeclared(m, m.Func(kernel), decl); err != nil {
				return err.Error() + "\n"
			}
			return "ok\n"
		}
		t.Fatalf("unknown command %s", d.Cmd)
		return ""
	})
}

func TestDeclaredRoundTrips(t *testing.T) {
	decl, err := ParseSignature("x: in f32*, y : out f64 *,n:i32, h: inout f16*, s: reduce u64*")
	require.NoError(t, err)
	var parts []string
	for _, d := range decl {
		parts = append(parts, d.String())
	}
	again, err := ParseSignature(strings.Join(parts, ", "))
	require.NoError(t, err)
	for i := range again {
		again[i].Col = decl[i].Col
	}
	require.Equal(t, decl, again)
}

func TestEffectsAreJSON(t *testing.T) {
	m := parseFile(t, "testdata/basic.ptx")
	effects := Infer(m, m.Func("vadd"))
	text, err := json.Marshal(effects)
	require.NoError(t, err)
	require.Contains(t, string(text), `{"param":0,"name":"vadd_param_0","access":"read","readAt":{"Line":57,"Col":2},`)
	var back Effects
	require.NoError(t, json.Unmarshal(text, &back))
	require.Equal(t, effects, &back)
}

func FuzzParseSignature(f *testing.F) {
	f.Add("x: in f32*, y: out f32*, n: i32")
	f.Add("s: reduce u64*")
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 1<<10 {
			return
		}
		decl, err := ParseSignature(text)
		if err != nil {
			require.Empty(t, decl)
			return
		}
		for _, d := range decl {
			require.Equal(t, d.Pointer, d.Mode != ModeNone)
			require.Equal(t, d.Name, text[d.Col-1:d.Col-1+len(d.Name)])
		}
	})
}
