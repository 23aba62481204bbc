package interp

import (
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestPrintfAgreesWithC compares with what a C program printed.
func TestPrintfAgreesWithC(t *testing.T) {
	table, err := os.ReadFile("testdata/printf.tsv")
	require.NoError(t, err)
	lines := strings.Split(strings.TrimSuffix(string(table), "\n"), "\n")[2:]
	require.Greater(t, len(lines), 400)
	for _, line := range lines {
		field := strings.Split(line, "\t")
		bits, err := strconv.ParseUint(field[2], 0, 64)
		require.NoError(t, err)
		size := map[string]int{"i": 4, "l": 8, "d": 8}[field[1]]
		got, n := printf(field[0], func(asked int) uint64 {
			require.Equal(t, size, asked, field[0])
			return bits
		}, nil)
		require.Equal(t, field[3], got, "%s of %s", field[0], field[2])
		require.Equal(t, 1, n)
	}
}

func TestPrintfForms(t *testing.T) {
	for _, c := range []struct {
		format string
		args   []uint64
		want   string
	}{
		{"%*d|%-*d|%.*f", []uint64{5, 7, 3, 8, 2, 0x400921fb54442d18}, "    7|8  |3.14"},
		{"%*d|", []uint64{0xfffffffd, 7}, "7  |"}, // a negative width is a flag
		{"%s|%6s|%-6s|%.2s", []uint64{1, 2, 3, 4}, "text1| text2|text3 |te"},
		{"%p %p", []uint64{0, 0x7000_0000_0010}, "(nil) 0x700000000010"},
		{"100%% of %y and %", nil, "100% of %y and %"},
		{"", nil, ""},
	} {
		args := c.args
		got, n := printf(c.format, func(int) uint64 {
			v := args[0]
			args = args[1:]
			return v
		}, func(addr uint64) string { return "text" + strconv.Itoa(int(addr)) })
		require.Equal(t, c.want, got)
		require.Equal(t, len(c.args), n, c.format)
	}
}

// A width or precision may be any number that a kernel happens to hold.
func TestPrintfFieldsAreBounded(t *testing.T) {
	for _, format := range []string{"%*d", "%*s", "%*c", "%*f", "%.*d", "%.*f", "%.*s"} {
		for _, field := range []uint64{0x7fff_ffff, 0x8000_0000} {
			args := []uint64{field, 7}
			got, _ := printf(format, func(int) uint64 {
				v := args[0]
				args = args[1:]
				return v
			}, func(uint64) string { return "text" })
			require.LessOrEqual(t, len(got), maxField+2, "%s of %#x", format, field)
			require.NotContains(t, got, "%", "%s of %#x", format, field)
		}
	}
}
