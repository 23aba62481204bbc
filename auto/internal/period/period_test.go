package period

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const most = 64

// visits counts how often the last symbols of a period came in a row.
func visits(s []uint64, period int) int {
	last, n := s[max(0, len(s)-period):], 1
	for rest := s[:len(s)-len(last)]; len(rest) >= period && slices.Equal(rest[len(rest)-period:], last); n++ {
		rest = rest[:len(rest)-period]
	}
	return n
}

func random(r *rand.Rand, n, symbols int) []uint64 {
	s := make([]uint64, n)
	for i := range s {
		s[i] = uint64(r.IntN(symbols)) * 0x9e3779b97f4a7c15
	}
	return s
}

// planted is a prologue and then some visits of a body, which may hold such things itself.
func planted(r *rand.Rand, depth int) []uint64 {
	s := random(r, r.IntN(8), 1000)
	for range 1 + r.IntN(3) {
		body := random(r, 1+r.IntN(6), 1000)
		if depth > 0 && r.IntN(2) == 0 {
			body = append(body, planted(r, depth-1)...)
		}
		for range 1 + r.IntN(5) {
			s = append(s, body...)
		}
		s = append(s, random(r, r.IntN(3), 1000)...)
	}
	return s
}

// What is found is a square, of whatever stream, and none is longer than asked for.
func TestEachPeriodFoundIsOne(t *testing.T) {
	count := 0
	for seed := range uint64(500) {
		r := rand.New(rand.NewPCG(seed, 1))
		s := random(r, 400, 1+r.IntN(4))
		if seed%2 == 0 {
			s = planted(r, 3)
		}
		f := New(most)
		for i, symbol := range s {
			last := 0
			for _, found := range f.Next(symbol) {
				require.Greater(t, found.Period, last)
				require.LessOrEqual(t, found.Period, most)
				require.GreaterOrEqual(t, found.Visits, 2)
				require.LessOrEqual(t, found.Visits, visits(s[:i+1], found.Period), "seed %d: %d at %d", seed, found.Period, i)
				last = found.Period
				count++
			}
		}
	}
	assert.Greater(t, count, 5_000)
}

// The end of the second visit, and of each after it, is where a loop is found, whatever came before, when
// one of its symbols comes once.
func TestALoopIsFoundAtTheEndOfItsSecondVisit(t *testing.T) {
	for seed := range uint64(1000) {
		r := rand.New(rand.NewPCG(seed, 2))
		s := random(r, r.IntN(300), 1+r.IntN(30))
		body := random(r, 1+r.IntN(most), 2+r.IntN(8))
		body[r.IntN(len(body))] = 7 // which random makes none of
		f := New(most)
		for _, symbol := range append(s, 9) { // nor of this: the loop begins after it
			f.Next(symbol)
		}
		for visit := range 4 {
			for i, symbol := range body {
				found := slices.Contains(f.Next(symbol), Repeat{len(body), visit + 1})
				require.Equal(t, visit > 0 && i == len(body)-1, found, "seed %d, visit %d, at %d", seed, visit, i)
			}
		}
	}
}

// A loop is nothing but itself: not twice or three times as long, whatever its symbols are.
func TestMultiplesOfALoopAreNotFound(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	for range 1000 {
		body := []uint64{r.Uint64(), r.Uint64(), r.Uint64(), r.Uint64(), r.Uint64()}
		f := New(most)
		for i := range 60 {
			for _, found := range f.Next(body[i%5]) {
				require.Equal(t, 5, found.Period, "at %d", i)
			}
		}
	}
}

// Bodies of few symbols, none of which need be unlike the others, are found before the end of their third visit.
func TestALoopOfLoopsIsFound(t *testing.T) {
	late := 0
	const seeds = 1000
	for seed := range uint64(seeds) {
		r := rand.New(rand.NewPCG(seed, 3))
		var body []uint64
		for len(body) < 8 {
			inner := random(r, 1+r.IntN(3), 3)
			for range 1 + r.IntN(4) {
				body = append(body, inner...)
			}
		}
		f, found := New(most), -1
		for i := 0; i < 3*len(body) && found < 0; i++ {
			for _, r := range f.Next(body[i%len(body)]) {
				if len(body)%r.Period == 0 && i+1 >= 2*len(body) { // it is the body, or what that repeats
					found = i
				}
			}
		}
		if found < 0 {
			late++
		}
	}
	assert.Zero(t, late, "of %d", seeds)
}

// TestWhatIsFreshMayBeSkipped expects equal reports with and without skipping of fresh symbols.
func TestWhatIsFreshMayBeSkipped(t *testing.T) {
	skipped := 0
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 5))
		s := planted(r, 3)
		if seed%2 == 0 {
			s = random(r, 400, 4+r.IntN(20))
		}
		f, g := New(most), New(most)
		for i, symbol := range s {
			found := slices.Clone(f.Next(symbol))
			if !f.Fresh() {
				require.Equal(t, found, slices.Clone(g.Next(symbol)), "seed %d at %d", seed, i)
				continue
			}
			g.Skip(symbol)
			require.Empty(t, found)
			skipped++
		}
	}
	assert.Greater(t, skipped, 10_000)
}

// TestUnlikeSymbolsAreFresh feeds a stream without repetitions. Its symbols must reach hardly any scale but the shortest,
// which keeps the cost low.
func TestUnlikeSymbolsAreFresh(t *testing.T) {
	f, fresh := New(1000), 0
	for i := range uint64(10_000) {
		f.Next(i * i * 0x9e3779b97f4a7c15)
		if f.Fresh() {
			fresh++
		}
	}
	assert.Greater(t, fresh, 9_000)
}

// A window is all that is kept.
func TestASymbolCostsNoMemory(t *testing.T) {
	f := New(most)
	r := rand.New(rand.NewPCG(1, 1))
	for range 1000 {
		f.Next(r.Uint64N(5))
	}
	assert.Zero(t, testing.AllocsPerRun(10_000, func() { f.Next(r.Uint64N(5)) }))
}

func BenchmarkNext(b *testing.B) {
	for _, c := range []struct {
		name   string
		symbol func(i int) uint64
	}{
		{"unlike", func(i int) uint64 { return uint64(i) * 0x9e3779b97f4a7c15 }},
		{"loop", func(i int) uint64 { return uint64(i % 6) }},
		{"coins", func(i int) uint64 { return uint64(i) * 0x9e3779b97f4a7c15 >> 63 }},
	} {
		b.Run(c.name, func(b *testing.B) {
			f := New(1024)
			for i := range b.N {
				f.Next(c.symbol(i))
			}
		})
	}
}
