package validation

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/device"
)

const requiredHeading = "id,kernel,class,gpu,profile,ptx,entry,grid,block,mode,measured_us"

func TestParseReadsEveryColumn(t *testing.T) {
	text := "\ufeffnote,mode,measured_us,id,set,kernel,class,gpu,profile,ptx,entry,grid,block,shared,args,sample,spread,repo,commit,file,source\n" +
		"\"two, \"\"quoted\"\"\",pingpong:16,1.25e3,a/b,mine,k,cache,my-gpu,my/gpu.json,k.ptx,k_1,8 4,32 2 2,1024,f32*100 i32=-5 rand*7 chain*9 u8=255 f64=2.5 u64=18446744073709551615,64,0.02,r,c,f,s\n"
	rows, err := Parse("x.csv", []byte(text))
	require.NoError(t, err)
	require.Len(t, rows, 1)
	r := rows[0]
	args := r.Args
	r.Args = nil
	assert.Equal(t, Row{
		ID: "a/b", Set: "mine", Kernel: "k", Class: "cache", GPU: "my-gpu", Profile: "my/gpu.json", PTX: "k.ptx", Entry: "k_1",
		Grid: device.Dim3{X: 8, Y: 4, Z: 1}, Block: device.Dim3{X: 32, Y: 2, Z: 2}, Shared: 1024, Mode: Mode{"pingpong", 16}, Sample: 64,
		MeasuredUS: 1250, Spread: 0.02, Repo: "r", Commit: "c", File: "f", Source: "s", Note: `two, "quoted"`,
	}, r)
	require.Len(t, args, 7)
	assert.Equal(t, int64(400), args[0].bytes)
	assert.Equal(t, []byte{0xfb, 0xff, 0xff, 0xff}, args[1].scalar)
	assert.Equal(t, int64(28), args[2].bytes)
	assert.Equal(t, int64(9*64), args[3].bytes)
	assert.Equal(t, []byte{255}, args[4].scalar)
	assert.Equal(t, []byte{0, 0, 0, 0, 0, 0, 4, 0x40}, args[5].scalar)
	assert.Equal(t, []byte{255, 255, 255, 255, 255, 255, 255, 255}, args[6].scalar)
}

func TestOptionalColumnsMayBeMissing(t *testing.T) {
	rows, err := Parse("x.csv", []byte(requiredHeading+"\nr,k,compute,g,h200,k.ptx,k,1,1,cold,5\n"))
	require.NoError(t, err)
	assert.Equal(t, []Row{{
		ID: "r", Kernel: "k", Class: "compute", GPU: "g", Profile: "h200", PTX: "k.ptx", Entry: "k",
		Grid: device.Dim3{X: 1, Y: 1, Z: 1}, Block: device.Dim3{X: 1, Y: 1, Z: 1}, Mode: Mode{Kind: "cold"}, MeasuredUS: 5,
	}}, rows)
}

func TestParseErrorsNameFileLineAndColumn(t *testing.T) {
	// row returns a file whose second row has a value in a column; line 2 is a row over two lines.
	row := func(column, value string) string {
		head := requiredHeading + ",shared,args,sample,spread,note"
		good := strings.Split("r,k,compute,g,h200,k.ptx,k,1,1,cold,5,0,,0,,n", ",")
		bad := append([]string(nil), good...)
		for i, name := range strings.Split(head, ",") {
			if name == column {
				bad[i] = value
			}
		}
		good[len(good)-1] = "\"over\ntwo lines\""
		return head + "\n" + strings.Join(good, ",") + "\n" + strings.Join(bad, ",") + "\n"
	}
	const list = "id,set,kernel,class,gpu,profile,ptx,entry,grid,block,shared,args,mode,sample,measured_us,spread,repo,commit,file,source,note"
	for _, c := range []struct{ text, want string }{
		{"", "x.csv:1: the file is empty; its first line must name the columns " + list},
		{requiredHeading + ",colour,note,smell\n", `x.csv:1: unknown column "colour", "smell"; the columns are ` + list},
		{requiredHeading + ",note,note\n", `x.csv:1: the column "note" occurs twice; remove one`},
		{strings.Replace(requiredHeading, ",mode", "", 1) + "\n", `x.csv:1: there is no column "mode"; add it`},
		{requiredHeading + "\nr,k\n", "x.csv:2: the row has 2 values, and the heading names 11 columns"},
		{requiredHeading + "\n\"r,k\n", `x.csv:2: not CSV: extraneous or missing " in quoted-field`},
		{row("id", ""), "x.csv:4: id: the value is empty"},
		{row("measured_us", "0"), `x.csv:4: measured_us: "0" is not a time in us above 0`},
		{row("measured_us", "-3"), `x.csv:4: measured_us: "-3" is not a time in us above 0`},
		{row("measured_us", "NaN"), `x.csv:4: measured_us: "NaN" is not a time in us above 0`},
		{row("measured_us", "+Inf"), `x.csv:4: measured_us: "+Inf" is not a time in us above 0`},
		{row("measured_us", "5 us"), `x.csv:4: measured_us: "5 us" is not a time in us above 0`},
		{row("measured_us", ""), "x.csv:4: measured_us: the value is empty"},
		{row("grid", "1 2 3 4"), `x.csv:4: grid: "1 2 3 4": write one to three numbers, separated by spaces`},
		{row("grid", "8x8"), `x.csv:4: grid: "8x8": "8x8" is not an extent of 1 or more`},
		{row("block", "32 0"), `x.csv:4: block: "32 0": "0" is not an extent of 1 or more`},
		{row("block", " "), `x.csv:4: block: " ": write one to three numbers, separated by spaces`},
		{row("shared", "-1"), `x.csv:4: shared: "-1" is not a number of bytes`},
		{row("sample", "some"), `x.csv:4: sample: "some" is not a number of blocks; write 0 to run all`},
		{row("spread", "-0.1"), `x.csv:4: spread: "-0.1" is not a standard deviation divided by the mean, 0 or more; leave it empty if unknown`},
		{row("ptx", "../k.ptx"), `x.csv:4: ptx: "../k.ptx": name a file of the folder, as in a/b, not a path that leads out of it`},
		{row("profile", "/etc/p.json"), `x.csv:4: profile: "/etc/p.json": name a file of the folder, as in a/b, not a path that leads out of it`},
		{row("mode", "stream"), `x.csv:4: mode: "stream" needs a number of launches from 1 to 1048576, as in stream:8`},
		{row("mode", "graph:0"), `x.csv:4: mode: "graph:0" needs a number of launches from 1 to 1048576, as in graph:8`},
		{row("mode", "cold:2"), `x.csv:4: mode: "cold:2": cold times one launch; write it without a number`},
		{row("mode", "warm"), `x.csv:4: mode: unknown mode "warm"; there are stream:N, pingpong:N, graph:N, host:N, cold, span, coldspan`},
		{row("args", "i32=1 f32"), `x.csv:4: args: argument "f32": write a number as i32=5 and a buffer as f32*1000, rand*1000 or chain*1000`},
		{row("args", "i16=1"), `x.csv:4: args: argument "i16=1": write a number as i32=5 and a buffer as f32*1000, rand*1000 or chain*1000`},
		{row("args", "i32=3000000000"), `x.csv:4: args: argument "i32=3000000000": "3000000000" is not a number of type i32`},
		{row("args", "u32=-1"), `x.csv:4: args: argument "u32=-1": "-1" is not a number of type u32`},
		{row("args", "half*2"), `x.csv:4: args: argument "half*2": unknown type "half"; a buffer is of u8, i32, u32, f32, i64, u64, f64, rand or chain`},
		{row("args", "f32*0"), `x.csv:4: args: argument "f32*0": the number of elements is "0"; it must be from 1 to 274877906944`},
		{row("args", "chain*99999999999"), `x.csv:4: args: argument "chain*99999999999": the number of elements is "99999999999"; it must be from 1 to 67108864`},
	} {
		_, err := Parse("x.csv", []byte(c.text))
		require.EqualError(t, err, c.want)
		var syntax *SyntaxError
		require.ErrorAs(t, err, &syntax)
		assert.Equal(t, "x.csv", syntax.File)
	}
	assert.NotContains(t, row("note", "n"), "\r")
	_, err := Parse("x.csv", []byte(row("note", "n")))
	require.NoError(t, err, "the row without a mistake")
}

// FuzzParse checks that what Parse accepts is within its bounds, and that Format and Parse are inverse.
func FuzzParse(f *testing.F) {
	data, err := Data().read(rowsFile)
	require.NoError(f, err)
	lines := strings.SplitAfter(string(data), "\n")
	for _, i := range []int{1, 80, 160, 240} {
		f.Add(lines[0] + lines[i])
	}
	f.Add(requiredHeading + "\nr,k,compute,g,h200,k.ptx,k,1 1 1,32,graph:3,1e-3\n")
	f.Fuzz(func(t *testing.T, text string) {
		rows, err := Parse("x.csv", []byte(text))
		if err != nil {
			require.ErrorAs(t, err, new(*SyntaxError))
			return
		}
		for i := range rows {
			r := &rows[i]
			require.Positive(t, r.MeasuredUS)
			require.False(t, math.IsInf(r.MeasuredUS, 0))
			require.Positive(t, min(r.Grid.X, r.Grid.Y, r.Grid.Z, r.Block.X, r.Block.Y, r.Block.Z))
			require.NotEmpty(t, r.Mode.Kind)
		}
		formatted := Format(rows)
		again, err := Parse("y.csv", formatted)
		require.NoError(t, err, "%s", formatted)
		require.Equal(t, string(formatted), string(Format(again)))
		require.Len(t, again, len(rows))
	})
}

func TestFormatKeepsTheEmbeddedRows(t *testing.T) {
	s := Data()
	again, err := Parse("y.csv", Format(s.Rows))
	require.NoError(t, err)
	require.Len(t, again, len(s.Rows))
	for i := range again {
		for k := range columns {
			assert.Equal(t, columns[k].format(&s.Rows[i]), columns[k].format(&again[i]))
		}
	}
}
