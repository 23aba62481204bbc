package rewrite

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/reprise-gpu/reprise/internal/ptx"
)

// TestGolden shows what the rewrites make of small kernels.
//
//	module                                              parses the input
//	range kernel=k dims=2
//	batch kernel=k source=table grid=4,3,1 instances=3  further arguments: grids=(…), equal=(…), partial
//	fuse                                                a line for each part: kernel grid block shared
//
// The result is the text, and a line with the launch, the origins and the variables.
func TestGolden(t *testing.T) {
	datadriven.Walk(t, "testdata/golden", func(t *testing.T, path string) {
		var m *ptx.Module
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			var r *Result
			var err error
			kernel := ""
			d.MaybeScanArgs(t, "kernel", &kernel)
			switch d.Cmd {
			case "module":
				if m, err = ptx.Parse(path, ".version 7.8\n.target sm_70\n.address_size 64\n"+d.Input); err != nil {
					return err.Error()
				}
				return "ok"
			case "range":
				dims := 0
				d.ScanArgs(t, "dims", &dims)
				r, err = Range(m, kernel, dims)
			case "batch":
				r, err = Batch(m, kernel, batchOptions(t, d))
			case "fuse":
				r, err = Fuse(fuseParts(m, d.Input))
			}
			if err != nil {
				return err.Error()
			}
			return r.Text + describe(r)
		})
	})
}

// describe returns what a result says beside its text.
func describe(r *Result) string {
	s := fmt.Sprintf("# grid %v block %v shared %d, params", r.Grid, r.Block, r.Shared)
	for _, o := range r.Params {
		if o.Kind == Argument {
			s += fmt.Sprintf(" %d.%d", o.Part, o.Param)
		} else {
			s += fmt.Sprintf(" kind%d", o.Kind)
		}
	}
	if r.Table != nil {
		s += fmt.Sprintf(", table header %d stride %d fields %v", r.Table.Header, r.Table.Stride, r.Table.Fields)
	}
	for _, v := range r.Variables {
		s += fmt.Sprintf(", variable %+v", v)
	}
	return s + "\n"
}

func batchOptions(t *testing.T, d *datadriven.TestData) (o BatchOptions) {
	source := ""
	d.MaybeScanArgs(t, "source", &source)
	o.Source = map[string]Source{"": FromParameters, "table": FromTable, "rows": FromRows}[source]
	d.ScanArgs(t, "instances", &o.Instances)
	o.Partial = d.HasArg("partial")
	for _, a := range d.CmdArgs {
		for _, v := range a.Vals {
			switch a.Key {
			case "grid":
				o.Grid = parseExtents(v)
			case "grids":
				o.Grids = append(o.Grids, parseExtents(v))
			case "equal":
				o.Equal = append(o.Equal, v == "1")
			}
		}
	}
	return o
}

func fuseParts(m *ptx.Module, text string) (parts []Part) {
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		shared, _ := strconv.Atoi(words[3])
		parts = append(parts, Part{m, words[0], parseExtents(words[1]), parseExtents(words[2]), uint32(shared)})
	}
	return parts
}

// parseExtents parses "4x3x1".
func parseExtents(s string) (n [3]uint32) {
	for i, word := range strings.Split(s, "x") {
		v, _ := strconv.Atoi(word)
		n[i] = uint32(v)
	}
	return n
}
