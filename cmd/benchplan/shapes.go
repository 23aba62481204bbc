package main

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/reprise-gpu/reprise/internal/kernels"
	"github.com/reprise-gpu/reprise/internal/null"
	"github.com/reprise-gpu/reprise/ir"
	"github.com/reprise-gpu/reprise/tracer"
)

// shape is a family of programs of any size.
type shape struct {
	name, doc string
	trace     func(p *program, ops int)
	goal      *goal // nil for none
}

var shapes = []shape{
	{"layered8", "layers of 8 launches, each reading two results of the layer before and one of the layer before that", layered(8), &goal{1_000_000, 1500 * time.Millisecond, 1000}},
	{"layered64", "the same with layers of 64", layered(64), nil},
	{"cg", "conjugate gradients, every vector in 8 tiles", conjugateGradients, nil},
	{"training", "a chain there and back, each launch back reading what its twin on the way there left", training, nil},
	{"tiles", "launches that each change one of 128 tiles, in turn, each before one that reads them all", tiles, nil},
	{"random", "each launch reads three of 64 vectors and overwrites one", random, nil},
	{"chain", "each launch updates what the one before left", chain, nil},
	{"fan", "one launch, many that read its result, one that reads all of theirs", fan, nil},
	{"parallel", "launches that share nothing", parallel, nil},
}

func shapeNamed(name string) (shape, error) {
	for _, s := range shapes {
		if s.name == name {
			return s, nil
		}
	}
	return shape{}, fmt.Errorf("unknown shape %q: `make bench-plan` prints all of them", name)
}

// tile is the number of elements that a launch works on.
const tile = 256

// program is a trace under construction. Its launches are of two kernels: one with three inputs and one output, and
// one that sums. The bytes that each launch accesses are inferred from PTX, as for any program.
type program struct {
	*tracer.Tracer
	kernel, reduce *tracer.Kernel
	random         *rand.Rand
}

// traced records a program of about ops launches.
func (s shape) traced(ops int) (*tracer.Trace, error) {
	t := tracer.New(null.New(), s.name, tracer.Deferred)
	p := &program{t, kernelOf(t, "combine"), kernelOf(t, "reduce"), rand.New(rand.NewPCG(1, 1))}
	s.trace(p, ops)
	return t.Finish()
}

func kernelOf(t *tracer.Tracer, name string) *tracer.Kernel {
	k, ok := kernels.Lookup(name)
	if !ok {
		panic("BUG: there is no kernel " + name)
	}
	return t.Module(k.File, k.PTX).Kernel(k.Name)
}

// vector allocates a buffer of the given number of tiles.
func (p *program) vector(name string, tiles int) vector {
	return vector{p.Alloc(name, ir.F32, int64(tiles)*tile, ir.InOut)}
}

// combine launches the kernel with one thread for each element of out.
func (p *program) combine(x, y, z, out tracer.Buffer) {
	p.Launch(p.kernel, tracer.Linear(4, 64), x, y, z, out, int32(out.Len()))
}

// vector is a buffer in tiles.
type vector struct{ tracer.Buffer }

func (v vector) tile(i int) tracer.Buffer { return v.tiles(i, i+1) }

func (v vector) tiles(lo, hi int) tracer.Buffer { return v.Slice(int64(lo)*tile, int64(hi)*tile) }

// layered writes three vectors in turn. A layer therefore waits also for the readers of the two
// layers before it.
func layered(width int) func(*program, int) {
	return func(p *program, ops int) {
		layers := [3]vector{p.vector("a", width), p.vector("b", width), p.vector("c", width)}
		pick := func(layer int) tracer.Buffer { return layers[layer%3].tile(p.random.IntN(width)) }
		for v := range ops {
			layer, i := v/width, v%width
			p.combine(pick(layer+2), pick(layer+2), pick(layer+1), layers[layer%3].tile(i))
		}
	}
}

func conjugateGradients(p *program, ops int) {
	const tiles = 8
	a, x, r := p.vector("a", tiles), p.vector("x", tiles), p.vector("r", tiles)
	d, q, partial := p.vector("d", tiles), p.vector("q", tiles), p.vector("partial", tiles)
	alpha, beta := p.vector("alpha", 1), p.vector("beta", 1)
	for launched := 0; launched < ops; launched += 6*tiles + 2 {
		for i := range tiles {
			p.combine(d.tiles(max(0, i-1), min(tiles, i+2)), d.tile(i), a.tile(i), q.tile(i)) // q = A d
		}
		for i := range tiles {
			p.combine(d.tile(i), q.tile(i), q.tile(i), partial.tile(i))
		}
		p.sum(partial, alpha) // alpha = rho / dᵀq
		for i := range tiles {
			p.combine(x.tile(i), d.tile(i), alpha.Buffer, x.tile(i))
		}
		for i := range tiles {
			p.combine(r.tile(i), q.tile(i), alpha.Buffer, r.tile(i))
		}
		for i := range tiles {
			p.combine(r.tile(i), r.tile(i), r.tile(i), partial.tile(i))
		}
		p.sum(partial, beta) // beta = rᵀr / rho
		for i := range tiles {
			p.combine(r.tile(i), d.tile(i), beta.Buffer, d.tile(i))
		}
	}
}

// sum reads all of a vector and adds to the first element of another.
func (p *program) sum(v, out vector) {
	p.Launch(p.reduce, tracer.Linear(4, 64), v.Buffer, v.Buffer, out.Buffer, int32(v.Len()))
}

// training is a forward and a backward sweep. Its dependencies from forward to backward launches span up to the whole
// program, and all of these are implied by the chain of launches between.
func training(p *program, ops int) {
	depth := max(1, ops/2)
	kept, gradient := p.vector("kept", depth+1), p.vector("gradient", 1)
	for i := range depth {
		p.combine(kept.tile(i), kept.tile(i), kept.tile(i), kept.tile(i+1))
	}
	for i := depth; i > 0; i-- {
		p.combine(kept.tile(i), gradient.Buffer, gradient.Buffer, gradient.Buffer)
	}
}

// tiles alternates a launch on one tile with a sum that reads all tiles. The sum before it has already waited for all
// tiles but one.
func tiles(p *program, ops int) {
	const width = 128
	x, sums := p.vector("x", width), p.vector("sums", width)
	for i := range ops / 2 {
		changed := x.tile(i % width)
		p.combine(changed, changed, changed, changed)
		p.sum(x, vector{sums.tile(i % width)})
	}
}

func random(p *program, ops int) {
	const vectors = 64
	all := p.vector("all", vectors)
	pick := func() tracer.Buffer { return all.tile(p.random.IntN(vectors)) }
	for range ops {
		p.combine(pick(), pick(), pick(), pick())
	}
}

func chain(p *program, ops int) {
	x := p.vector("x", 1)
	for range ops {
		p.combine(x.Buffer, x.Buffer, x.Buffer, x.Buffer)
	}
}

func fan(p *program, ops int) {
	x, y, out := p.vector("x", 1), p.vector("y", max(1, ops-2)), p.vector("out", 1)
	p.combine(x.Buffer, x.Buffer, x.Buffer, x.Buffer)
	for i := range ops - 2 {
		p.combine(x.Buffer, x.Buffer, x.Buffer, y.tile(i))
	}
	p.sum(y, out)
}

func parallel(p *program, ops int) {
	x, y := p.vector("x", 1), p.vector("y", ops)
	for i := range ops {
		p.combine(x.Buffer, x.Buffer, x.Buffer, y.tile(i))
	}
}
