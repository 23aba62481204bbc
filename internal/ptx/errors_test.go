package ptx

import (
	"os"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/require"
)

const testHead = ".version 8.7\n.target sm_100\n.address_size 64\n"

// TestParseErrors pins the exact text for broken inputs. "parse" takes a whole
// file; "body" puts its input, from line 1 on, into a kernel with registers
// of each kind.
func TestParseErrors(t *testing.T) {
	datadriven.RunTest(t, "testdata/errors", func(t *testing.T, d *datadriven.TestData) string {
		src := d.Input
		switch d.Cmd {
		case "parse":
		case "body":
			src = strings.ReplaceAll(testHead, "\n", " ") +
				".global .u32 g; .visible .entry k(.param .u64 a, .param .u32 n) { " +
				".reg .pred %p<3>; .reg .b16 %rs<3>; .reg .b32 %r<5>; .reg .f32 %f<5>; .reg .f64 %fd<3>; .reg .b64 %rd<5>;\n" +
				d.Input + "\n}\n"
		default:
			t.Fatalf("unknown command %s", d.Cmd)
		}
		m, err := Parse("in.ptx", src)
		if err != nil {
			require.Nil(t, m)
			return err.Error() + "\n"
		}
		return "ok\n"
	})
}

// TestTruncations cuts real files every 31 bytes: a file that does
// not parse then has one error, which speaks of the end.
func TestTruncations(t *testing.T) {
	for _, file := range corpus(t) {
		src, err := os.ReadFile(file)
		require.NoError(t, err)
		head := strings.Index(string(src), "\n.address_size")
		for n := 0; n < len(src); n += 31 {
			_, err := Parse("cut.ptx", string(src[:n]))
			if err == nil {
				continue
			}
			lines := strings.Split(err.Error(), "\n")
			if !strings.Contains(lines[0], "cut short") && n > head { // whole so far, but what it declares is missing
				for _, line := range lines {
					require.Regexp(t, "is declared but has no body|is not declared in this module", line, "%s cut at %d", file, n)
				}
				continue
			}
			require.Len(t, lines, 1, "%s cut at %d", file, n)
		}
	}
}

func TestParseReportsTenErrorsAtMost(t *testing.T) {
	src := testHead + ".entry k() {\n" + strings.Repeat("add.u32 %x, %y, %z;\n", 30) + "}\n"
	_, err := Parse("in.ptx", src)
	require.Len(t, strings.Split(err.Error(), "\n"), maxErrors)
}

// Nesting is bounded, so that no input overflows the stack or takes long.
func TestParseBoundsDepth(t *testing.T) {
	for _, open := range []string{"{", "{ .reg .b32 r;"} {
		_, err := Parse("in.ptx", testHead+".entry k() {"+strings.Repeat(open, 100_000))
		require.ErrorContains(t, err, "nested deeper than 64")
	}
	_, err := Parse("in.ptx", testHead+".global .u32 x[4] = "+strings.Repeat("{", 100_000))
	require.ErrorContains(t, err, "deeper than its dimensions")
}
