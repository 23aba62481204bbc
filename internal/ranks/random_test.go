package ranks_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/device/model"
	"github.com/reprise-gpu/reprise/internal/distribute"
	"github.com/reprise-gpu/reprise/internal/machine"
	"github.com/reprise-gpu/reprise/internal/profiles"
	"github.com/reprise-gpu/reprise/internal/ranks"
	"github.com/reprise-gpu/reprise/ir"
	"github.com/reprise-gpu/reprise/tracer"
)

var cases = flag.Int("cases", 24, "random programs that TestRandom runs")

// random returns a program of random launches, copies and fills. Each buffer is a grid of side x side words; two of them
// are temporary and are written as a whole before they are read.
func random(seed uint64) *program {
	r := rand.New(rand.NewPCG(seed, 22))
	side := 4 + r.IntN(60)
	n := side * side
	const buffers, temporaries = 4, 2
	type launch struct {
		what, x, y, lo, hi int
	}
	var list []launch
	written := make([]bool, temporaries)
	readable := func() int {
		for {
			if b := r.IntN(buffers + temporaries); b < buffers || written[b-buffers] {
				return b
			}
		}
	}
	for range 1 + r.IntN(8) {
		l := launch{what: r.IntN(11), x: readable()}
		if l.what <= 2 { // overwrites all of y
			l.y = r.IntN(buffers + temporaries)
			if l.y >= buffers {
				written[l.y-buffers] = true
			}
		} else {
			l.y = readable()
		}
		if l.x == l.y && l.what != 3 {
			l.x = (l.y + 1) % buffers
		}
		if l.x == l.y {
			continue
		}
		l.lo = r.IntN(n)
		l.hi = l.lo + r.IntN(n-l.lo) + 1
		list = append(list, l)
	}
	threads := uint32(1 << (3 + r.IntN(4)))
	return &program{
		name:     fmt.Sprintf("random%d", seed),
		steps:    1 + r.IntN(4),
		together: seed%4 == 1,
		build: func(tr *tracer.Tracer) []tracer.Buffer {
			m := tr.Module("kernels.ptx", kernels)
			var bs []tracer.Buffer
			for b := range buffers {
				bs = append(bs, tr.Alloc(fmt.Sprintf("b%d", b), ir.I32, int64(n), ir.InOut))
			}
			for b := range temporaries {
				bs = append(bs, tr.Alloc(fmt.Sprintf("t%d", b), ir.I32, int64(n), ir.Temporary))
			}
			blocks := (uint32(n) + threads - 1) / threads
			parts := tr.Alloc("parts", ir.I32, int64(blocks), ir.Temporary)
			total := tr.Alloc("total", ir.I32, 1, ir.InOut)
			perm := tr.Alloc("perm", ir.I32, int64(n), ir.Constant)
			counts := tr.Alloc("counts", ir.I32, 16, ir.InOut)
			results := append(bs[:buffers:buffers], total, counts, perm)
			line := tracer.Linear(blocks, threads)
			tiles := uint32(side+7) / 8
			grid := tracer.Shape{Grid: ir.Dim3{X: tiles, Y: tiles, Z: 1}, Block: ir.Dim3{X: 8, Y: 8, Z: 1}}
			for _, l := range list {
				x, y := bs[l.x], bs[l.y]
				switch l.what {
				case 0:
					tr.Launch(m.Kernel("reverse"), line, x, y, n)
				case 1:
					tr.Launch(m.Kernel("pairs"), line, x, y, n)
				case 2:
					tr.Memset(y, int32(l.lo))
				case 3:
					tr.Launch(m.Kernel("stencil"), grid, x, y, side)
				case 4, 5:
					tr.Launch(m.Kernel("axpy"), line, x, y, 3, n)
				case 6:
					tr.Launch(m.Kernel("sums"), line, x, parts, n)
					tr.Launch(m.Kernel("fold"), tracer.Linear(1, 32), parts, total, int32(blocks))
					tr.Launch(m.Kernel("shift"), line, total, y, n)
				case 7:
					tr.Launch(m.Kernel("count"), line, x, counts, n)
				case 8:
					tr.Launch(m.Kernel("scatter"), line, x, perm, y, n)
				case 9:
					tr.Launch(m.Kernel("gather"), line, x, perm, y, n)
				case 10:
					lo, hi := int64(l.lo), int64(l.hi)
					tr.Copy(y.Slice(lo, hi), x.Slice(lo, hi))
				}
			}
			if seed%3 == 1 && seed%9 != 4 { // a sum that no other launch reads
				unread := tr.Alloc("unread", ir.I32, 1, ir.InOut)
				tr.Launch(m.Kernel("sums"), line, bs[0], parts, n)
				tr.Launch(m.Kernel("fold"), tracer.Linear(1, 32), parts, unread, int32(blocks))
				if seed%4 == 3 { // what it has read is overwritten at once
					tr.Launch(m.Kernel("sums"), line, bs[1], parts, n)
				}
				results = append(results, unread)
			}
			return results
		},
		contents: func(b int) []byte {
			switch b {
			case buffers, buffers + 3: // total and unread
				return words(1, 9)
			case buffers + 1: // counts
				return words(16, 10)
			case buffers + 2:
				return permutation(n, seed)
			}
			return words(n, uint32(seed)+uint32(b))
		},
	}
}

// permutation returns a permutation of 0 to n-1 as words.
func permutation(n int, seed uint64) []byte {
	out := make([]byte, 4*n)
	for i, x := range rand.New(rand.NewPCG(seed, 1)).Perm(n) {
		out[4*i], out[4*i+1], out[4*i+2] = byte(x), byte(x>>8), byte(x>>16)
	}
	return out
}

// shape returns a random machine: ranks and devices, some of unequal speed or with weights, some without peers.
func shape(t testing.TB, seed uint64) *machine.Machine {
	r, weights := rand.New(rand.NewPCG(seed, 23)), rand.New(rand.NewPCG(seed, 24))
	m, err := machine.Uniform(1+r.IntN(4), 1+r.IntN(4), "h200")
	require.NoError(t, err)
	for i := range m.Ranks {
		rank := &m.Ranks[i]
		rank.Devices = append([]machine.Device(nil), rank.Devices...)
		if r.IntN(4) == 0 {
			rank.Links = nil
		}
		for d := range rank.Devices {
			if r.IntN(4) == 0 {
				rank.Devices[d].Profile = other(t)
			}
			if seed%3 == 2 {
				rank.Devices[d].Weight = weights.Float64() + 0.1
			}
		}
	}
	return m
}

func other(t testing.TB) *model.Profile {
	p, err := profiles.Lookup("v100")
	require.NoError(t, err)
	return p
}

// Random programs on random machines give the bytes of one device. In program 1579, a device gets bytes from the host
// that another launch has read before. In program 141, one graph receives the bytes of an exchange and sends those of its next run.
func TestRandom(t *testing.T) {
	seeds := []uint64{1579, 141}
	for seed := range uint64(*cases) {
		seeds = append(seeds, seed)
	}
	for _, seed := range seeds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			p := random(seed)
			want := p.alone(t)
			got := p.distributed(t, shape(t, seed), ranks.Options{Overlap: distribute.Overlap(seed % 3), Streams: seed%2 == 0, Tiles: seed%5 < 3})
			for b := range want {
				require.True(t, string(want[b]) == string(got[b]), "buffer %d", b)
			}
		})
	}
}
