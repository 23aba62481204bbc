package reference

import (
	"runtime"
	"sync"
)

// Image is a one-channel image.
type Image struct {
	Rows, Cols int
	Pix        []float64 // row-major
}

// NewImage returns a black image.
func NewImage(rows, cols int) *Image {
	return &Image{Rows: rows, Cols: cols, Pix: make([]float64, rows*cols)}
}

// ImageOf converts rows*cols pixels of the device to float64.
func ImageOf(rows, cols int, pix []float32) *Image {
	m := NewImage(rows, cols)
	for i := range m.Pix {
		m.Pix[i] = float64(pix[i])
	}
	return m
}

func (m *Image) row(i int) []float64 { return m.Pix[i*m.Cols : (i+1)*m.Cols] }

// padded returns m with a black border r pixels wide, so that accesses to neighbours need no bounds checks.
func (m *Image) padded(r int) *Image {
	p := NewImage(m.Rows+2*r, m.Cols+2*r)
	for i := range m.Rows {
		copy(p.row(i + r)[r:], m.row(i))
	}
	return p
}

// fill computes every pixel of a new image, rows in parallel: at 4800 x 4800 one core takes seconds per stage.
func fill(rows, cols int, pixel func(i, j int) float64) *Image {
	m := NewImage(rows, cols)
	workers := runtime.GOMAXPROCS(0)
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			for i := w; i < rows; i += workers {
				row := m.row(i)
				for j := range row {
					row[j] = pixel(i, j)
				}
			}
		})
	}
	wg.Wait()
	return m
}
