package validation

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"strconv"
	"strings"

	"github.com/reprise-gpu/reprise/device"
)

// column is a column of a file of rows.
type column struct {
	name     string
	optional bool // a file may lack the column, and a row its value
	parse    func(r *Row, text string) error
	format   func(r *Row) string
}

// columns are all columns, in the order in which files are written.
var columns = []column{
	text("id", func(r *Row) *string { return &r.ID }),
	optional(text("set", func(r *Row) *string { return &r.Set })),
	text("kernel", func(r *Row) *string { return &r.Kernel }),
	text("class", func(r *Row) *string { return &r.Class }),
	text("gpu", func(r *Row) *string { return &r.GPU }),
	fileName("profile", func(r *Row) *string { return &r.Profile }),
	fileName("ptx", func(r *Row) *string { return &r.PTX }),
	text("entry", func(r *Row) *string { return &r.Entry }),
	dimensions("grid", func(r *Row) *device.Dim3 { return &r.Grid }),
	dimensions("block", func(r *Row) *device.Dim3 { return &r.Block }),
	optional(column{name: "shared", parse: parseShared, format: func(r *Row) string { return strconv.Itoa(int(r.Shared)) }}),
	optional(column{name: "args", parse: parseArgs, format: formatArgs}),
	{name: "mode", parse: parseRowMode, format: func(r *Row) string { return r.Mode.String() }},
	optional(column{name: "sample", parse: parseSample, format: func(r *Row) string { return strconv.FormatInt(r.Sample, 10) }}),
	{name: "measured_us", parse: parseMeasured, format: func(r *Row) string { return number(r.MeasuredUS) }},
	optional(column{name: "spread", parse: parseSpread, format: formatSpread}),
	optional(text("repo", func(r *Row) *string { return &r.Repo })),
	optional(text("commit", func(r *Row) *string { return &r.Commit })),
	optional(text("file", func(r *Row) *string { return &r.File })),
	optional(text("source", func(r *Row) *string { return &r.Source })),
	optional(text("note", func(r *Row) *string { return &r.Note })),
}

func optional(c column) column {
	c.optional = true
	return c
}

func text(name string, field func(*Row) *string) column {
	return column{
		name:   name,
		parse:  func(r *Row, text string) error { *field(r) = text; return nil },
		format: func(r *Row) string { return *field(r) },
	}
}

// fileName is a column whose value names a file below a folder of the set. It must not lead out of the folder.
func fileName(name string, field func(*Row) *string) column {
	c := text(name, field)
	c.parse = func(r *Row, text string) error {
		if !fs.ValidPath(text) {
			return fmt.Errorf("%q: name a file of the folder, as in a/b, not a path that leads out of it", text)
		}
		*field(r) = text
		return nil
	}
	return c
}

func dimensions(name string, field func(*Row) *device.Dim3) column {
	return column{
		name: name,
		parse: func(r *Row, text string) error {
			words := strings.Fields(text)
			if len(words) < 1 || len(words) > 3 {
				return fmt.Errorf("%q: write one to three numbers, separated by spaces", text)
			}
			extents := [3]uint32{1, 1, 1}
			for i, w := range words {
				n, err := strconv.ParseUint(w, 10, 32)
				if err != nil || n == 0 {
					return fmt.Errorf("%q: %q is not an extent of 1 or more", text, w)
				}
				extents[i] = uint32(n)
			}
			*field(r) = device.Dim3{X: extents[0], Y: extents[1], Z: extents[2]}
			return nil
		},
		format: func(r *Row) string { return extent(*field(r)) },
	}
}

func parseShared(r *Row, text string) error {
	n, err := strconv.ParseUint(text, 10, 32)
	if err != nil {
		return fmt.Errorf("%q is not a number of bytes", text)
	}
	r.Shared = uint32(n)
	return nil
}

func parseArgs(r *Row, text string) error {
	for word := range strings.FieldsSeq(text) {
		a, err := parseArgument(word)
		if err != nil {
			return err
		}
		r.Args = append(r.Args, a)
	}
	return nil
}

func formatArgs(r *Row) string {
	words := make([]string, len(r.Args))
	for i, a := range r.Args {
		words[i] = a.String()
	}
	return strings.Join(words, " ")
}

func parseRowMode(r *Row, text string) (err error) {
	r.Mode, err = parseMode(text)
	return err
}

func parseSample(r *Row, text string) error {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 {
		return fmt.Errorf("%q is not a number of blocks; write 0 to run all", text)
	}
	r.Sample = n
	return nil
}

func parseMeasured(r *Row, text string) error {
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || !(v > 0) || math.IsInf(v, 0) {
		return fmt.Errorf("%q is not a time in us above 0", text)
	}
	r.MeasuredUS = v
	return nil
}

func parseSpread(r *Row, text string) error {
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || !(v >= 0) || math.IsInf(v, 0) {
		return fmt.Errorf("%q is not a standard deviation divided by the mean, 0 or more; leave it empty if unknown", text)
	}
	r.Spread = v
	return nil
}

func formatSpread(r *Row) string {
	if r.Spread == 0 {
		return ""
	}
	return number(r.Spread)
}

func number(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// errEmpty is the error of a value that must not be empty.
var errEmpty = errors.New("the value is empty")

// read parses the value of a row.
func (c *column) read(r *Row, text string) error {
	switch {
	case text != "":
		return c.parse(r, text)
	case c.optional:
		return nil
	}
	return errEmpty
}
