package reference

import "math"

// Pipeline holds every array that benchmark IMG computes from an image.
//
//	image ─┬─ BlurredSmall ──── MaskSmall ─────────────────────────────┐
//	       ├─ BlurredLarge ──── EdgesLarge ── Maximum, ── MaskLarge ─┐ │
//	       │                                  Minimum                │ │
//	       └─ BlurredUnsharpen ─ Unsharpened ───────────── Image2 ◄──┘ │
//	                                                         └─ Image3 ◄
//
// EdgesLarge and MaskLarge are the same array of the program, before and after it is extended in place.
type Pipeline struct {
	BlurredSmall, BlurredLarge, BlurredUnsharpen *Image

	MaskSmall, EdgesLarge *Image
	Maximum, Minimum      float64
	MaskLarge             *Image
	Unsharpened           *Image
	Image2, Image3        *Image
}

// amount is the strength of the sharpening in IMG.
const amount = 0.5

// IMG runs the pipeline.
func IMG(image *Image, filters Filters) *Pipeline {
	p := &Pipeline{
		BlurredSmall:     blur(image, filters.Small),
		BlurredLarge:     blur(image, filters.Large),
		BlurredUnsharpen: blur(image, filters.Unsharpen),
	}
	p.MaskSmall = sobel(p.BlurredSmall)
	p.EdgesLarge = sobel(p.BlurredLarge)
	p.Maximum, p.Minimum = extremes(p.EdgesLarge)
	p.MaskLarge = extend(p.EdgesLarge, p.Minimum, p.Maximum)
	p.Unsharpened = unsharpen(image, p.BlurredUnsharpen, amount)
	p.Image2 = combine(p.Unsharpened, p.BlurredLarge, p.MaskLarge)
	p.Image3 = combine(p.Image2, p.BlurredSmall, p.MaskSmall)
	return p
}

// blur correlates the image with the filter; outside the image it is black.
func blur(m *Image, f Filter) *Image {
	p := m.padded(f.Diameter / 2)
	return fill(m.Rows, m.Cols, func(i, j int) float64 {
		sum := 0.0
		for di := range f.Diameter {
			window := p.row(i + di)[j : j+f.Diameter]
			for dj, pixel := range window {
				sum += f.Weights[di*f.Diameter+dj] * pixel
			}
		}
		return sum
	})
}

// sobel returns the magnitude of the gradient by Sobel's operator. It smooths by 1 2 1 along one axis and
// differentiates along the other. Pixels outside of the image are black.
func sobel(m *Image) *Image {
	p := m.padded(1)
	smooth := func(a, b, c float64) float64 { return a + 2*b + c }
	return fill(m.Rows, m.Cols, func(i, j int) float64 {
		above, here, below := p.row(i)[j:], p.row(i + 1)[j:], p.row(i + 2)[j:]
		alongRows := smooth(below[0], below[1], below[2]) - smooth(above[0], above[1], above[2])
		alongCols := smooth(above[2], here[2], below[2]) - smooth(above[0], here[0], below[0])
		return math.Hypot(alongRows, alongCols)
	})
}

// extremes returns max(0, greatest pixel) and min(0, least pixel): the program resets both results to 0 first. A mask
// has no negative pixel, so the minimum is always 0.
func extremes(m *Image) (greatest, least float64) {
	for _, pixel := range m.Pix {
		greatest = max(greatest, pixel)
		least = min(least, pixel)
	}
	return greatest, least
}

// extend maps [least, greatest] to [0, 5] and cuts off at 1. An image without contrast divides 0 by 0; the program
// takes the result as 1.
func extend(m *Image, least, greatest float64) *Image {
	return fill(m.Rows, m.Cols, func(i, j int) float64 {
		v := 5 * (m.row(i)[j] - least) / (greatest - least)
		if math.IsNaN(v) {
			return 1
		}
		return min(1, v)
	})
}

// unsharpen increases the difference of the image from its blurred copy, within [0, 1].
func unsharpen(m, blurred *Image, amount float64) *Image {
	return fill(m.Rows, m.Cols, func(i, j int) float64 {
		v := m.row(i)[j]*(1+amount) - blurred.row(i)[j]*amount
		return min(max(v, 0), 1)
	})
}

// combine returns x where the mask is 1, y where it is 0, and a linear blend between.
func combine(x, y, mask *Image) *Image {
	return fill(x.Rows, x.Cols, func(i, j int) float64 {
		a := mask.row(i)[j]
		return x.row(i)[j]*a + y.row(i)[j]*(1-a)
	})
}
