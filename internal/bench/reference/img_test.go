package reference

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
)

func image(rows, cols int, pix ...float64) *Image { return &Image{rows, cols, pix} }

func constant(rows, cols int, v float64) *Image {
	return fill(rows, cols, func(int, int) float64 { return v })
}

func noise(rows, cols int, seed uint64) *Image {
	rng := rand.New(rand.NewPCG(seed, 0))
	m := NewImage(rows, cols)
	for i := range m.Pix {
		m.Pix[i] = rng.Float64()
	}
	return m
}

func TestBlurByHand(t *testing.T) {
	// Weights that name their place show any transposition or mirroring.
	f := Filter{3, []float64{1, 10, 100, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8}}

	one := blur(image(1, 1, 2), f)
	assert.Equal(t, []float64{2e4}, one.Pix, "only the centre weighs in")

	// A single bright pixel spreads the filter turned by half a turn.
	impulse := blur(image(3, 3, 0, 0, 0, 0, 1, 0, 0, 0, 0), f)
	assert.Equal(t, []float64{1e8, 1e7, 1e6, 1e5, 1e4, 1e3, 100, 10, 1}, impulse.Pix)

	// Not square: rows and columns must not be confused.
	strip := blur(image(1, 3, 1, 2, 3), f)
	assert.Equal(t, []float64{1e4*1 + 1e5*2, 1e3*1 + 1e4*2 + 1e5*3, 1e3*2 + 1e4*3}, strip.Pix)
}

func TestBlurLosesBrightnessOnlyAtTheBorder(t *testing.T) {
	m := blur(constant(5, 5, 0.5), Gaussian(3, 1))
	for i := range 5 {
		for j := range 5 {
			if interior := i > 0 && i < 4 && j > 0 && j < 4; interior {
				assert.InDelta(t, 0.5, m.row(i)[j], 1e-15)
			} else {
				assert.Less(t, m.row(i)[j], 0.45)
			}
		}
	}
}

// A filter wider than the image reaches past both borders at once.
func TestBlurWithAFilterLargerThanTheImage(t *testing.T) {
	m := blur(image(2, 1, 1, 2), Filter{5, []float64{
		0, 0, 1, 0, 0,
		0, 0, 2, 0, 0,
		9, 9, 3, 9, 9,
		0, 0, 4, 0, 0,
		0, 0, 5, 0, 0}})
	assert.Equal(t, []float64{3*1 + 4*2, 2*1 + 3*2}, m.Pix)
}

func TestSobelByHand(t *testing.T) {
	assert.Equal(t, []float64{0}, sobel(image(1, 1, 7)).Pix, "no weight on the pixel itself")

	m := sobel(image(3, 3,
		1, 2, 3,
		4, 5, 6,
		7, 8, 9))
	// In the middle: (7+16+9)-(1+4+3) = 24 along rows, (3+12+9)-(1+8+7) = 8 along columns.
	assert.InDelta(t, math.Hypot(24, 8), m.Pix[4], 1e-12)
	// At the corner only 2, 4 and 5 lie inside: 2*4+5 = 13 and 2*2+5 = 9.
	assert.InDelta(t, math.Hypot(13, 9), m.Pix[0], 1e-12)
}

func TestSobelOfAConstantIsZeroInside(t *testing.T) {
	m := sobel(constant(5, 5, 0.3))
	for i := 1; i < 4; i++ {
		assert.Equal(t, []float64{0, 0, 0}, m.row(i)[1:4])
	}
	assert.Greater(t, m.row(0)[2], 1.0, "the black outside makes the border an edge")
}

// A ramp along either axis has the same gradient everywhere: 8 per step.
func TestSobelOfARamp(t *testing.T) {
	down := sobel(fill(5, 5, func(i, _ int) float64 { return float64(i) }))
	right := sobel(fill(5, 5, func(_, j int) float64 { return float64(j) }))
	assert.Equal(t, []float64{8, 8, 8}, down.row(2)[1:4])
	assert.Equal(t, []float64{8, 8, 8}, right.row(2)[1:4])
}

func TestExtremesStartAtZero(t *testing.T) {
	for _, c := range []struct{ pix, want []float64 }{
		{[]float64{0.5, 2, 1}, []float64{2, 0}},
		{[]float64{-0.5, -2}, []float64{0, -2}},
		{nil, []float64{0, 0}},
	} {
		greatest, least := extremes(image(1, len(c.pix), c.pix...))
		assert.Equal(t, c.want, []float64{greatest, least}, "%v", c.pix)
	}
}

func TestExtendClamps(t *testing.T) {
	assert.Equal(t, []float64{0, 0.5, 1, 1, 1}, extend(image(1, 5, 0, 1, 2, 5, 10), 0, 10).Pix)
	assert.Equal(t, []float64{0, 1, 1}, extend(image(1, 3, 2, 3, 7), 2, 7).Pix)
	assert.Equal(t, []float64{1, 1}, extend(constant(1, 2, 0), 0, 0).Pix, "0/0 counts as 1")
}

func TestUnsharpenByHand(t *testing.T) {
	m := unsharpen(image(1, 4, 0.5, 0.5, 1, 0), image(1, 4, 0.5, 0.25, 0, 1), 0.5)
	assert.Equal(t, []float64{0.5, 0.625, 1, 0}, m.Pix)
}

func TestCombineByHand(t *testing.T) {
	m := combine(image(1, 3, 8, 8, 8), image(1, 3, 4, 4, 4), image(1, 3, 1, 0, 0.25))
	assert.Equal(t, []float64{8, 4, 5}, m.Pix)
}

// One white pixel, worked out by hand with filters that keep the numbers round.
func TestIMGOfOnePixel(t *testing.T) {
	half := Filter{1, []float64{0.5}}
	p := IMG(image(1, 1, 1), Filters{Small: half, Large: half, Unsharpen: half})
	assert.Equal(t, []float64{0.5}, p.BlurredSmall.Pix)
	assert.Equal(t, []float64{0}, p.EdgesLarge.Pix)
	assert.Equal(t, []float64{1}, p.MaskLarge.Pix, "no contrast")
	assert.Equal(t, []float64{1}, p.Unsharpened.Pix, "1.5 - 0.25, clamped")
	assert.Equal(t, []float64{1}, p.Image2.Pix, "the mask picks the sharp image")
	assert.Equal(t, []float64{0.5}, p.Image3.Pix, "no edge, so the small blur")
}

func TestIMGStagesFeedEachOther(t *testing.T) {
	m, f := noise(9, 7, 1), IMGFilters()
	p := IMG(m, f)
	assert.Equal(t, blur(m, f.Small), p.BlurredSmall)
	assert.Equal(t, blur(m, f.Large), p.BlurredLarge)
	assert.Equal(t, blur(m, f.Unsharpen), p.BlurredUnsharpen)
	assert.Equal(t, sobel(p.BlurredSmall), p.MaskSmall)
	assert.Equal(t, sobel(p.BlurredLarge), p.EdgesLarge)
	assert.Equal(t, extend(p.EdgesLarge, 0, p.Maximum), p.MaskLarge)
	assert.Equal(t, combine(p.Unsharpened, p.BlurredLarge, p.MaskLarge), p.Image2)
	assert.Equal(t, combine(p.Image2, p.BlurredSmall, p.MaskSmall), p.Image3)
	assert.Contains(t, p.EdgesLarge.Pix, p.Maximum)
	assert.Zero(t, p.Minimum)
}

// Transposing the input transposes every stage, since all filters are symmetric.
func TestIMGCommutesWithTransposition(t *testing.T) {
	m := noise(6, 11, 2)
	p, q := IMG(m, IMGFilters()), IMG(transpose(m), IMGFilters())
	assert.InDelta(t, p.Maximum, q.Maximum, 1e-12)
	assert.InDeltaSlice(t, p.Image3.Pix, transpose(q.Image3).Pix, 1e-12)
}

func transpose(m *Image) *Image {
	return fill(m.Cols, m.Rows, func(i, j int) float64 { return m.row(j)[i] })
}

func TestImageOfWidens(t *testing.T) {
	assert.Equal(t, image(1, 2, 0.5, 0.25), ImageOf(1, 2, []float32{0.5, 0.25}))
}
