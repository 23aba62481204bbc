package sparse

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/reprise-gpu/reprise/internal/absent"
)

// ReadFile reads a matrix from a Matrix Market file, see Read.
func ReadFile(path string) (*CSR, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	a, err := Read(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return a, nil
}

// Read reads a matrix in the Matrix Market exchange format (R. Boisvert, R. Pozo and K. Remington, "The Matrix Market
// Exchange Formats: Initial Design", NISTIR 5935, 1996), plain or compressed with gzip:
//
//	%%MatrixMarket matrix coordinate|array real|integer|pattern general|symmetric|skew-symmetric
//
// The elements of a pattern are ones. The file of a symmetric matrix holds the lower triangle; Read fills in the
// upper one. Several values of one element are added. Zeros of an array are dropped. Complex matrices are refused.
// Errors contain the line number.
func Read(r io.Reader) (*CSR, error) {
	buffered := bufio.NewReaderSize(absent.Reader(r), 1<<16)
	if magic, _ := buffered.Peek(2); bytes.Equal(magic, []byte{0x1f, 0x8b}) {
		unzipped, err := gzip.NewReader(buffered)
		if err != nil {
			return nil, err
		}
		buffered = bufio.NewReaderSize(unzipped, 1<<16)
	}
	m := &market{lines: bufio.NewScanner(buffered)}
	m.lines.Buffer(make([]byte, 1<<12), longestLine)
	a, err := m.read()
	if err != nil {
		return nil, fmt.Errorf("line %d: %w", max(1, m.line), err)
	}
	return a, nil
}

// longestLine bounds the length of a line. The format's own limit is 1024 characters.
const longestLine = 1 << 16

// market is the state of reading a file.
type market struct {
	lines *bufio.Scanner
	line  int // line number, from 1

	array    bool
	field    string
	symmetry string

	rows, cols int
	elements   *Triplets
}

func (m *market) read() (*CSR, error) {
	if err := m.header(); err != nil {
		return nil, err
	}
	entries, err := m.size()
	if err != nil {
		return nil, err
	}
	m.elements = NewTriplets(m.rows, m.cols)
	if m.array {
		err = m.columns()
	} else {
		err = m.coordinates(entries)
	}
	if err != nil {
		return nil, err
	}
	if words, err := m.words(); err == nil {
		return nil, fmt.Errorf("%q follows the last entry", words[0])
	} else if err != errEnd {
		return nil, err
	}
	return m.elements.CSR()
}

const usualHeader = "%%MatrixMarket matrix coordinate real general"

func (m *market) header() error {
	if err := m.scan(); err == errEnd {
		return fmt.Errorf("the file is empty: it begins with a line such as %s", usualHeader)
	} else if err != nil {
		return err
	}
	words := strings.Fields(strings.ToLower(m.lines.Text()))
	if len(words) != 5 || words[0] != "%%matrixmarket" {
		return fmt.Errorf("a Matrix Market file begins with a line such as %s", usualHeader)
	}
	for i, c := range []struct{ what, use string }{
		{"object", "matrix"}, {"format", "coordinate array"}, {"field", "real integer pattern"}, {"symmetry", "general symmetric skew-symmetric"},
	} {
		if word, use := words[i+1], strings.Fields(c.use); !slices.Contains(use, word) {
			return fmt.Errorf("the %s is %s: what can be read is %s", c.what, word, strings.Join(use, ", "))
		}
	}
	m.array, m.field, m.symmetry = words[2] == "array", words[3], words[4]
	if m.array && m.field == "pattern" {
		return errors.New("a pattern has coordinates: an array of it would say nothing")
	}
	return nil
}

// errEnd marks the end of the file.
var errEnd = errors.New("end of file")

// scan advances to the next line. It returns errEnd at the end of the file, for packed files only if the checksum is
// correct, so that a truncated file is an error.
func (m *market) scan() error {
	more := m.lines.Scan()
	if !more && m.lines.Err() == nil {
		return errEnd
	}
	m.line++ // also if the line cannot be read
	switch err := m.lines.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		return fmt.Errorf("a line of more than %d characters", longestLine)
	case errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("the packed file was cut short: %w", err)
	default:
		return err
	}
}

// words returns the words of the next line that is not empty or a comment. They are valid until the next call. It
// returns errEnd at the end.
func (m *market) words() ([][]byte, error) {
	for {
		if err := m.scan(); err != nil {
			return nil, err
		}
		line := bytes.TrimSpace(m.lines.Bytes())
		if len(line) > 0 && line[0] != '%' {
			return bytes.Fields(line), nil
		}
	}
}

// ended replaces errEnd by an error that states what is missing. It returns other errors unchanged.
func ended(err error, format string, args ...any) error {
	if err == errEnd {
		return fmt.Errorf("the file ends "+format, args...)
	}
	return err
}

// size reads the line with the extents, and for coordinates the number of entries.
func (m *market) size() (entries int, err error) {
	words, err := m.words()
	if err != nil {
		return 0, ended(err, "before the size of the matrix")
	}
	form := "rows columns entries"
	if m.array {
		form = "rows columns"
	}
	numbers := make([]int, len(strings.Fields(form)))
	if len(words) != len(numbers) {
		return 0, fmt.Errorf("%d numbers for the size: it is %s", len(words), form)
	}
	for i := range numbers {
		if numbers[i], err = index(words[i], 0, math.MaxInt32-1); err != nil {
			return 0, err
		}
	}
	m.rows, m.cols = numbers[0], numbers[1]
	if m.symmetry != "general" && m.rows != m.cols {
		return 0, fmt.Errorf("a %s matrix of %d x %d: it is square", m.symmetry, m.rows, m.cols)
	}
	if entries = m.rows * m.cols; !m.array {
		entries = numbers[2]
	}
	// Rows without entries take memory as well. A small file must not allocate much memory.
	if m.rows > 1<<20 && m.rows/64 > entries {
		return 0, fmt.Errorf("%d rows with %d entries: nearly all of them are empty", m.rows, entries)
	}
	return entries, nil
}

// index reads a whole number from lo to hi.
func index(word []byte, lo, hi int) (int, error) {
	n, err := strconv.Atoi(string(word))
	if err != nil || n < lo || n > hi {
		return 0, fmt.Errorf("%q is no whole number from %d to %d", word, lo, hi)
	}
	return n, nil
}

func (m *market) coordinates(entries int) error {
	want := 3
	if m.field == "pattern" {
		want = 2
	}
	for done := range entries {
		words, err := m.words()
		if err != nil {
			return ended(err, "after %d of %d entries", done, entries)
		}
		if len(words) != want {
			return fmt.Errorf("%d numbers for an entry: of a %s matrix it has %d", len(words), m.field, want)
		}
		row, err := index(words[0], 1, m.rows)
		if err != nil {
			return fmt.Errorf("row: %w", err)
		}
		col, err := index(words[1], 1, m.cols)
		if err != nil {
			return fmt.Errorf("column: %w", err)
		}
		v := 1.0
		if want == 3 {
			if v, err = m.value(words[2]); err != nil {
				return err
			}
		}
		if err := m.add(row, col, v); err != nil {
			return err
		}
	}
	return nil
}

// add adds an element and, for symmetric matrices, its mirror image. Indices count from 1.
func (m *market) add(row, col int, v float64) error {
	m.elements.Add(row-1, col-1, v)
	switch {
	case m.symmetry == "general":
		return nil
	case row < col:
		return fmt.Errorf("entry (%d, %d) is above the diagonal: of a %s matrix the file holds what is below", row, col, m.symmetry)
	case m.symmetry == "skew-symmetric" && row == col:
		return fmt.Errorf("entry (%d, %d) is on the diagonal, where a skew-symmetric matrix is zero", row, col)
	case row == col:
		return nil
	case m.symmetry == "skew-symmetric":
		v = -v
	}
	m.elements.Add(col-1, row-1, v)
	return nil
}

// columns reads an array: all elements by columns, or the part that the symmetry requires.
func (m *market) columns() error {
	for col := 1; col <= m.cols && m.rows > 0; col++ {
		first := 1
		switch m.symmetry {
		case "symmetric":
			first = col
		case "skew-symmetric":
			first = col + 1
		}
		for row := first; row <= m.rows; row++ {
			words, err := m.words()
			if err != nil {
				return ended(err, "before element (%d, %d) of %d x %d", row, col, m.rows, m.cols)
			}
			if len(words) != 1 {
				return fmt.Errorf("%d numbers in a line of an array: there is one in each", len(words))
			}
			v, err := m.value(words[0])
			if err != nil {
				return err
			}
			if v == 0 {
				continue
			}
			if err := m.add(row, col, v); err != nil {
				return err
			}
		}
	}
	return nil
}

func (m *market) value(word []byte) (float64, error) {
	if m.field == "integer" {
		n, err := strconv.ParseInt(string(word), 10, 64)
		if err != nil {
			return 0, fmt.Errorf("%q is no whole number of 64 bits", word)
		}
		return float64(n), nil
	}
	v, err := strconv.ParseFloat(string(word), 64)
	if err != nil { // Fortran writes double precision as 1.5D+02
		v, err = strconv.ParseFloat(strings.NewReplacer("d", "e", "D", "e").Replace(string(word)), 64)
	}
	if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
		return 0, fmt.Errorf("%q is no finite number", word)
	}
	return v, nil
}
