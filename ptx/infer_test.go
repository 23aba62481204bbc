package ptx

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/require"
)

// describeEffects is the text form of the goldens.
func describeEffects(e *Effects) string {
	var b strings.Builder
	for _, p := range e.Params {
		fmt.Fprintf(&b, "  %s", p.Name)
		if p.Field != 0 {
			fmt.Fprintf(&b, " byte %d", p.Field)
		}
		fmt.Fprintf(&b, ": %s", p.Access)
		for _, at := range []struct {
			name string
			pos  Pos
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

func parseFile(t testing.TB, file string) *Module {
	src, err := os.ReadFile(file)
	require.NoError(t, err)
	m, err := Parse(file, string(src))
	require.NoError(t, err)
	return m
}

// TestInfer compares the effects of every kernel of a file with the golden,
// which was checked by hand against the comments of the .cu file.
func TestInfer(t *testing.T) {
	datadriven.RunTest(t, "testdata/effects", func(t *testing.T, d *datadriven.TestData) string {
		var file string
		d.ScanArgs(t, "file", &file)
		m := parseFile(t, "testdata/"+file)
		var b strings.Builder
		for _, f := range m.Funcs {
			if f.Entry {
				fmt.Fprintf(&b, "%s\n%s", f.Name, describeEffects(Infer(m, f)))
			}
		}
		return b.String()
	})
}
