package shares

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/internal/sharing"
)

func TestReadTrace(t *testing.T) {
	got, err := ReadTrace("a.csv", strings.NewReader(traceHeader+"\n\"a, b\",80,256,32,1024,12.5,compute,500\n, , ,,,3,,\nx,1,,,,0.5,memory,\n"))
	require.NoError(t, err)
	assert.Equal(t, &Trace{"a.csv", []Kernel{
		{"a, b", 80, 256, 32, 1024, 12500, sharing.Compute, 500 * time.Microsecond},
		{Time: 3000},
		{Name: "x", Blocks: 1, Time: 500, Bound: sharing.Memory},
	}}, got)
}

func TestBadTraces(t *testing.T) {
	row := func(cells string) string { return traceHeader + "\n" + cells }
	for text, want := range map[string]string{
		"":                         "a.csv: no kernels",
		traceHeader:                "a.csv: no kernels",
		"name,us\nx,1":             "a.csv:1: heading \"name,us\": write name,blocks",
		row("x,1"):                 "a.csv:2: 2 cells: write 8",
		row("x,1,1,1,1,1,,,"):      "a.csv:2: 9 cells",
		row("x,-1,,,,1,,"):         "a.csv:2: blocks \"-1\": write a number from 0 to 2147483647",
		row("x,2147483648,,,,1,,"): "blocks",
		row("x,1,1025,,,1,,"):      "threads",
		row("x,1,1,256,,1,,"):      "registers",
		row("x,1,1,1,1e3,1,,"):     "shared",
		row("x,1,,,,,,"):           "us \"\": write the time of the kernel",
		row("x,1,,,,0,,"):          "us \"0\"",
		row("x,1,,,,NaN,,"):        "us \"NaN\": write microseconds, from 0 to 1000000",
		row("x,1,,,,1e7,,"):        "us",
		row("x,1,,,,1,fast,"):      "bound \"fast\": write compute, memory or unknown",
		row("x,1,,,,1,,-5"):        "gap_us",
		row("\"x,1,,,,1,,"):        "a.csv: ",
		row(strings.Repeat("y", 600) + ",1,,,,1,,"): "a name of 600 bytes",
	} {
		_, err := ReadTrace("a.csv", strings.NewReader(text))
		require.Error(t, err, text)
		assert.Contains(t, err.Error(), want, text)
		assert.NotContains(t, err.Error(), "\n", text)
	}
	long := traceHeader + "\n" + strings.Repeat("x,1,,,,1,,\n", maxTraceRows+1)
	_, err := ReadTrace("a.csv", strings.NewReader(long))
	assert.ErrorContains(t, err, "at most 65536 kernels")
	_, err = ReadTrace("a.csv", strings.NewReader(traceHeader+"\n"+strings.Repeat(" ", maxTraceBytes)))
	assert.ErrorContains(t, err, "at most 16 MiB")
}

// FuzzReadTrace expects an error of one line, or kernels within the limits that are written and read back equal.
func FuzzReadTrace(f *testing.F) {
	f.Add(traceHeader + "\nx,1,32,16,0,2.5,memory,100\n,,,,,1,,\n")
	f.Add(traceHeader + "\n\"a\"\"b\n\",1,,,,1e-3,unknown,1e7\n")
	f.Add("name\n")
	f.Fuzz(func(t *testing.T, text string) {
		got, err := ReadTrace("t", strings.NewReader(text))
		if err != nil {
			assert.NotContains(t, err.Error(), "\n")
			return
		}
		var b strings.Builder
		b.WriteString(traceHeader + "\n")
		for _, k := range got.Kernels {
			assert.Positive(t, k.Time)
			assert.LessOrEqual(t, k.Threads, uint32(maxThreads))
			fmt.Fprintf(&b, "k,%d,%d,%d,%d,%.3f,%s,%.3f\n", k.Blocks, k.Threads, k.Registers, k.Shared, micros(k.Time), boundNames[k.Bound], micros(k.Gap))
		}
		again, err := ReadTrace("t", strings.NewReader(b.String()))
		require.NoError(t, err)
		for i := range again.Kernels {
			again.Kernels[i].Name = got.Kernels[i].Name
		}
		assert.Equal(t, len(got.Kernels), len(again.Kernels))
	})
}
