package validation

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strings"
)

// SyntaxError is an error in a file of rows.
type SyntaxError struct {
	File   string
	Line   int    // from 1
	Column string // name of the column; "" if the error is not about one value
	Err    error
}

func (e *SyntaxError) Error() string {
	if e.Column == "" {
		return fmt.Sprintf("%s:%d: %v", e.File, e.Line, e.Err)
	}
	return fmt.Sprintf("%s:%d: %s: %v", e.File, e.Line, e.Column, e.Err)
}

func (e *SyntaxError) Unwrap() error { return e.Err }

// Parse parses a file of rows: CSV with the names of the columns in its first line. Errors are of type *SyntaxError
// and refer to the file by name.
func Parse(name string, src []byte) ([]Row, error) {
	p := parser{name: name, csv: csv.NewReader(bytes.NewReader(bytes.TrimPrefix(src, []byte("\ufeff"))))}
	if err := p.heading(); err != nil {
		return nil, err
	}
	for {
		r, err := p.row()
		if err == io.EOF {
			return p.rows, nil
		}
		if err != nil {
			return nil, err
		}
		p.rows = append(p.rows, r)
	}
}

type parser struct {
	name    string
	csv     *csv.Reader
	columns []*column // of the file, in its order
	rows    []Row
}

// line returns the line of a field of the last record.
func (p *parser) line(field int) int {
	line, _ := p.csv.FieldPos(field)
	return line
}

func (p *parser) fail(line int, column string, err error) error {
	return &SyntaxError{File: p.name, Line: line, Column: column, Err: err}
}

// record returns the fields of the next line that is not empty, or io.EOF.
func (p *parser) record() ([]string, error) {
	fields, err := p.csv.Read()
	var syntax *csv.ParseError
	switch {
	case errors.Is(err, csv.ErrFieldCount):
		err = p.fail(p.line(0), "", fmt.Errorf("the row has %d values, and the heading names %d columns", len(fields), len(p.columns)))
	case errors.As(err, &syntax):
		err = p.fail(syntax.Line, "", fmt.Errorf("not CSV: %w", syntax.Err))
	}
	return fields, err
}

// heading reads the names of the columns.
func (p *parser) heading() error {
	names, err := p.record()
	if err == io.EOF {
		return p.fail(1, "", fmt.Errorf("the file is empty; its first line must name the columns %s", strings.Join(columnNames(), ",")))
	}
	if err != nil {
		return err
	}
	var unknown []string
	seen := map[string]bool{}
	for i, name := range names {
		c := lookupColumn(name)
		switch {
		case c == nil:
			unknown = append(unknown, fmt.Sprintf("%q", name))
		case seen[name]:
			return p.fail(p.line(i), "", fmt.Errorf("the column %q occurs twice; remove one", name))
		}
		seen[name] = true
		p.columns = append(p.columns, c)
	}
	if unknown != nil {
		return p.fail(p.line(0), "", fmt.Errorf("unknown column %s; the columns are %s", strings.Join(unknown, ", "), strings.Join(columnNames(), ",")))
	}
	for i := range columns {
		if c := &columns[i]; !c.optional && !seen[c.name] {
			return p.fail(p.line(0), "", fmt.Errorf("there is no column %q; add it", c.name))
		}
	}
	return nil
}

// row parses the next row. It returns io.EOF after the last one.
func (p *parser) row() (r Row, err error) {
	fields, err := p.record()
	if err != nil {
		return r, err
	}
	for i, c := range p.columns {
		if err := c.read(&r, fields[i]); err != nil {
			return r, p.fail(p.line(i), c.name, err)
		}
	}
	return r, nil
}

func lookupColumn(name string) *column {
	for i := range columns {
		if columns[i].name == name {
			return &columns[i]
		}
	}
	return nil
}

func columnNames() []string {
	names := make([]string, len(columns))
	for i := range columns {
		names[i] = columns[i].name
	}
	return names
}

// Format returns the text of a file with these rows. Parse is its inverse.
func Format(rows []Row) []byte {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	_ = w.Write(columnNames()) // cannot fail: the destination is memory
	for i := range rows {
		fields := make([]string, len(columns))
		for k := range columns {
			fields[k] = columns[k].format(&rows[i])
		}
		_ = w.Write(fields)
	}
	w.Flush()
	return b.Bytes()
}
