package ir_test

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/internal/irtest"
	"github.com/reprise-gpu/reprise/ir"
)

// filled returns a file with random contents of every kind.
func filled(seed uint64) *ir.File {
	r := rand.New(rand.NewPCG(seed, 12))
	g := irtest.Random(r, 12)
	g.Buffers = append(g.Buffers, ir.Buffer{Name: "long", Elem: ir.U16, Len: 300, Role: ir.Input}, ir.Buffer{Name: "long name", Elem: ir.U8, Len: 400, Role: ir.InOut})
	f := &ir.File{Tool: "test", Graph: g}
	for id := range g.Buffers {
		b := &g.Buffers[id]
		if b.Role == ir.Temporary || b.Role == ir.Output {
			continue
		}
		c := ir.Contents{Buffer: ir.BufferID(id)}
		switch r.IntN(3) {
		case 0:
			c.Data = make([]byte, b.Size())
			for i := range c.Data {
				c.Data[i] = byte(r.Uint32())
			}
		case 1:
			c.Seed = r.Uint64()
			c.Lo, _ = ir.NewScalar(b.Elem, 0)
			c.Hi, _ = ir.NewScalar(b.Elem, 100)
			if c.Lo == c.Hi { // 16-bit floats are given as bits
				c.Seed = 0
			}
		case 2:
			continue
		}
		f.Contents = append(f.Contents, c)
	}
	return f
}

// TestContentsRoundTrip writes random contents and reads the same bytes.
func TestContentsRoundTrip(t *testing.T) {
	kinds := map[string]int{}
	for seed := range uint64(100) {
		f := filled(seed)
		text := string(f.Text())
		back, err := ir.Parse("x.rir", text)
		require.NoError(t, err, "seed %d", seed)
		require.Equal(t, text, string(back.Text()), "seed %d", seed)
		require.Equal(t, len(f.Contents), len(back.Contents), "seed %d", seed)
		for i := range f.Contents {
			was, is := &f.Contents[i], &back.Contents[i]
			require.Equal(t, was.Buffer, is.Buffer)
			b := &f.Graph.Buffers[was.Buffer]
			require.Equal(t, was.Bytes(b), is.Bytes(b), "seed %d, @%s", seed, b.Name)
		}
		for _, kind := range []string{"fill(", "uniform(", "values(", "packed("} {
			kinds[kind] += strings.Count(text, kind)
		}
	}
	for kind, n := range kinds {
		assert.Positive(t, n, kind)
	}
}

// TestUniformContents checks known numbers, which files rely on, and the bounds of many.
func TestUniformContents(t *testing.T) {
	scalar := func(typ ir.Type, v any) ir.Scalar {
		s, err := ir.NewScalar(typ, v)
		require.NoError(t, err)
		return s
	}
	b := ir.Buffer{Elem: ir.U64, Len: 3}
	c := ir.Contents{Seed: 1234567, Lo: scalar(ir.U64, 0), Hi: scalar(ir.U64, uint64(math.MaxUint64))}
	var got []uint64
	for data := c.Bytes(&b); len(data) > 0; data = data[8:] {
		got = append(got, binary.LittleEndian.Uint64(data))
	}
	// The first outputs of SplitMix64 from seed 1234567 (Vigna's splitmix64.c), less one: the range excludes its end.
	assert.Equal(t, []uint64{6457827717110365316, 3203168211198807972, 9817491932198370422}, got)

	b = ir.Buffer{Elem: ir.I8, Len: 4000}
	c = ir.Contents{Seed: 1, Lo: scalar(ir.I8, -3), Hi: scalar(ir.I8, 2)}
	counts := map[int8]int{}
	for _, x := range c.Bytes(&b) {
		counts[int8(x)]++
	}
	assert.Len(t, counts, 5)
	for x, n := range counts {
		assert.True(t, -3 <= x && x < 2 && 650 < n && n < 950, "%d occurs %d times", x, n)
	}

	b = ir.Buffer{Elem: ir.F32, Len: 4000}
	c = ir.Contents{Seed: 1, Lo: scalar(ir.F32, -2), Hi: scalar(ir.F32, 2)}
	sum := 0.0
	for data := c.Bytes(&b); len(data) > 0; data = data[4:] {
		x := math.Float32frombits(binary.LittleEndian.Uint32(data))
		require.True(t, -2 <= x && x <= 2)
		sum += float64(x)
	}
	assert.InDelta(t, 0, sum/4000, 0.1)
}
