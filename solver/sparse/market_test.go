package sparse

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"
)

// TestMarket prints the matrix of each file, or why it is none.
func TestMarket(t *testing.T) {
	datadriven.RunTest(t, "testdata/market", func(t *testing.T, d *datadriven.TestData) string {
		a, err := Read(strings.NewReader(d.Input))
		if err != nil {
			return err.Error() + "\n"
		}
		require.NoError(t, a.Check())
		var b strings.Builder
		fmt.Fprintf(&b, "%d x %d, %d entries\n", a.Rows, a.Cols, len(a.Val))
		for i := range a.Rows {
			for j := range a.Cols {
				fmt.Fprintf(&b, " %g", a.At(i, j))
			}
			b.WriteByte('\n')
		}
		return b.String()
	})
}

// write is a file of a, in the format's words.
func write(a *CSR, format, field, symmetry string) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%%%%MatrixMarket matrix %s %s %s\n%% a comment\n\n", format, field, symmetry)
	half := symmetry != "general"
	above := func(i, j int) bool { return half && i < j || symmetry == "skew-symmetric" && i == j }
	if format == "array" {
		fmt.Fprintf(&b, "%d %d\n", a.Rows, a.Cols)
		for j := range a.Cols {
			for i := range a.Rows {
				if !above(i, j) {
					fmt.Fprintf(&b, "%g\n", a.At(i, j))
				}
			}
		}
		return b.Bytes()
	}
	var entries strings.Builder
	count := 0
	for i := range a.Rows {
		cols, vals := a.Row(i)
		for k, c := range cols {
			if above(i, int(c)) {
				continue
			}
			count++
			fmt.Fprintf(&entries, "%d %d", i+1, c+1)
			if field != "pattern" {
				fmt.Fprintf(&entries, " %g", vals[k])
			}
			entries.WriteByte('\n')
		}
	}
	fmt.Fprintf(&b, "%d %d %d\n%s", a.Rows, a.Cols, count, entries.String())
	return b.Bytes()
}

// symmetrized is a plus or minus its transpose.
func symmetrized(t *testing.T, a *CSR, sign float64) *CSR {
	t.Helper()
	n := min(a.Rows, a.Cols)
	elements := NewTriplets(n, n)
	for i := range n {
		for j := range n {
			if v := a.At(i, j) + sign*a.At(j, i); v != 0 {
				elements.Add(i, j, v)
			}
		}
	}
	s, err := elements.CSR()
	require.NoError(t, err)
	return s
}

func TestWhatIsWrittenIsRead(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 0))
	for range 60 {
		a := random(t, rng)
		ones := &CSR{Rows: a.Rows, Cols: a.Cols, Ptr: a.Ptr, Col: a.Col, Val: make([]float64, len(a.Val))}
		for i := range ones.Val {
			ones.Val[i] = 1
		}
		for symmetry, want := range map[string]*CSR{"general": a, "symmetric": symmetrized(t, a, 1), "skew-symmetric": symmetrized(t, a, -1)} {
			for _, format := range []string{"coordinate", "array"} {
				for _, field := range []string{"real", "integer"} {
					file := write(want, format, field, symmetry)
					got, err := Read(bytes.NewReader(file))
					require.NoError(t, err, string(file))
					require.NoError(t, got.Check())
					assert.True(t, mat.Equal(dense(want), dense(got)), string(file))
				}
			}
		}
		got, err := Read(bytes.NewReader(write(ones, "coordinate", "pattern", "general")))
		require.NoError(t, err)
		assert.Equal(t, ones, got)
	}
}

func TestReadFileUnpacks(t *testing.T) {
	want := poisson2D(5)
	plain := write(want, "coordinate", "real", "symmetric")
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	_, err := w.Write(plain)
	require.NoError(t, errors.Join(err, w.Close()))
	dir := t.TempDir()
	for name, data := range map[string][]byte{"a.mtx": plain, "a.mtx.gz": packed.Bytes()} {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, data, 0o644))
		got, err := ReadFile(path)
		require.NoError(t, err)
		assert.Equal(t, want, got)
	}
	short := filepath.Join(dir, "short.mtx.gz")
	for left := 3; left < packed.Len(); left++ { // also where the last line is there and the checksum is not
		require.NoError(t, os.WriteFile(short, packed.Bytes()[:left], 0o644))
		_, err = ReadFile(short)
		assert.ErrorIs(t, err, io.ErrUnexpectedEOF, "%d bytes", left)
	}
	_, err = ReadFile(filepath.Join(dir, "none.mtx"))
	assert.ErrorIs(t, err, os.ErrNotExist)
}

// A line longer than any buffer is an error with its number, and not a truncated number.
func TestLongLine(t *testing.T) {
	_, err := Read(strings.NewReader(usualHeader + "\n" + strings.Repeat(" ", longestLine+1) + "1 1 0\n"))
	assert.ErrorContains(t, err, "line 2: a line of more than 65536 characters")
}

func FuzzRead(f *testing.F) {
	f.Add(write(poisson2D(2), "coordinate", "real", "symmetric"))
	f.Add(write(ConvectionDiffusion(2, 0.5), "array", "real", "general"))
	f.Add(write(poisson2D(2), "coordinate", "pattern", "general"))
	f.Add([]byte("%%MatrixMarket matrix array integer skew-symmetric\n2 2\n1"))
	f.Fuzz(func(t *testing.T, data []byte) {
		a, err := Read(bytes.NewReader(data))
		if err != nil {
			return
		}
		require.NoError(t, a.Check())
		if a.Rows > 1000 || len(a.Val) > 1000 {
			return
		}
		for _, v := range a.Val {
			if math.IsInf(v, 0) || math.IsNaN(v) { // a sum
				return
			}
		}
		again, err := Read(bytes.NewReader(write(a, "coordinate", "real", "general")))
		require.NoError(t, err)
		assert.Equal(t, a, again)
	})
}
