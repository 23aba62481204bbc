// Package tracertest makes random programs with nested loops, for tests of tracers and of automatic replay.
package tracertest

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/internal/kernels"
	"github.com/reprise-gpu/reprise/ir"
	"github.com/reprise-gpu/reprise/tracer"
)

const length = 48 // elements of a buffer

// Program is a tree of statements. Inner nodes are loops; leaves are driver calls and actions of the host between them.
type Program struct {
	seed    uint64
	buffers int
	body    []statement
}

// statement is a statement of a program. Operands a, b and c are roles; swap and rotate give the roles to other
// buffers.
type statement struct {
	what  what
	a, b  int
	c     int
	n, at int64
	value float32
	step  float32 // added to value at each execution
	wild  bool    // value is random at each execution
	times int     // minimum number of iterations of a loop
	vary  int     // maximum number of further iterations, drawn at each execution
	body  []statement
}

type what int

const (
	loop what = iota
	square
	combine
	unsharpen
	memset
	fetch
	swap
	rotate
	look
	hostCall
	synchronize
	allocate
)

// Random returns the program of a seed. Loops are nested, buffers change roles, scalars grow or are random,
// and the host reads results between calls.
func Random(seed uint64) *Program {
	r := rand.New(rand.NewPCG(seed, 11))
	p := &Program{seed: seed, buffers: 3 + r.IntN(3)}
	for range 1 + r.IntN(3) {
		p.body = append(p.body, p.some(r, r.IntN(4))...)
		p.body = append(p.body, p.loop(r, 2))
	}
	p.body = append(p.body, p.some(r, r.IntN(3))...)
	return p
}

func (p *Program) loop(r *rand.Rand, depth int) statement {
	s := statement{what: loop, times: 2 + r.IntN(7), body: p.some(r, 1+r.IntN(5))}
	if r.IntN(4) == 0 {
		s.vary = 3
	}
	if depth > 0 && r.IntN(2) == 0 {
		s.body = append(s.body, p.loop(r, depth-1))
		s.body = append(s.body, p.some(r, r.IntN(2))...)
	}
	return s
}

func (p *Program) some(r *rand.Rand, n int) (list []statement) {
	for range n {
		s := statement{what: square + what(r.IntN(5)), a: r.IntN(p.buffers), b: r.IntN(p.buffers), c: r.IntN(p.buffers), value: float32(r.IntN(8)) / 8}
		s.n = []int64{length, length, length / 2, length / 3}[r.IntN(4)]
		s.at = r.Int64N(length/s.n) * s.n
		switch r.IntN(6) {
		case 0:
			s.step = 0.125
		case 1:
			s.wild = r.IntN(2) == 0
		}
		if rare := r.IntN(40); rare < 8 {
			s.what = []what{swap, swap, swap, rotate, look, hostCall, synchronize, allocate}[rare]
		}
		list = append(list, s)
	}
	return list
}

// Run makes the calls of the program. It returns the results that the program read during the run, followed by the
// contents of all buffers at the end. The caller must finish the tracer.
func (p *Program) Run(t testing.TB, tr *tracer.Tracer) (seen [][]uint32) {
	x := &run{t: t, tr: tr, r: rand.New(rand.NewPCG(p.seed, 12)), done: map[*statement]int{}}
	for _, name := range []string{"square", "combine", "unsharpen"} {
		k, ok := kernels.Lookup(name)
		require.True(t, ok)
		x.kernels = append(x.kernels, tr.Module(k.File, k.PTX).Kernel(name))
	}
	for i := range p.buffers {
		x.buffers = append(x.buffers, x.alloc(fmt.Sprintf("b%d", i)))
	}
	x.all = append(x.all, x.buffers...)
	x.host = tr.AllocHost("host", ir.F32, length, ir.InOut)
	x.do(p.body)
	for _, b := range x.all {
		x.look(b)
	}
	tr.Synchronize()
	x.look(x.host)
	require.NoError(t, tr.Err(), "seed %d", p.seed)
	return x.seen
}

// run is the state of a running program.
type run struct {
	t       testing.TB
	tr      *tracer.Tracer
	r       *rand.Rand
	kernels []*tracer.Kernel
	buffers []tracer.Buffer // by role
	all     []tracer.Buffer
	host    tracer.Buffer
	done    map[*statement]int // number of executions
	seen    [][]uint32
}

func (x *run) alloc(name string) tracer.Buffer {
	b := x.tr.Alloc(name, ir.F32, length, ir.Temporary)
	data := make([]float32, length)
	for i := range data {
		data[i] = x.r.Float32()
	}
	require.NoError(x.t, tracer.Write(b, data))
	return b
}

func (x *run) look(b tracer.Buffer) {
	data := make([]uint32, b.Len())
	require.NoError(x.t, tracer.Read(data, b))
	x.seen = append(x.seen, data)
}

func (x *run) do(list []statement) {
	for i := range list {
		s := &list[i]
		x.one(s)
		x.done[s]++
	}
}

func (x *run) one(s *statement) {
	piece := func(role int) tracer.Buffer { return x.buffers[role].Slice(s.at, s.at+s.n) }
	value := s.value + s.step*float32(x.done[s])
	if s.wild {
		value = x.r.Float32()
	}
	shape := tracer.Linear(uint32(1+s.n/32), 32)
	b := x.buffers
	switch s.what {
	case loop:
		for range s.times + x.r.IntN(s.vary+1) {
			x.do(s.body)
		}
	case square:
		x.tr.Launch(x.kernels[0], shape, piece(s.a), piece(s.b), s.n)
	case combine:
		x.tr.Launch(x.kernels[1], shape, piece(s.a), piece(s.b), piece(s.c), piece((s.a+1)%len(b)), s.n)
	case unsharpen:
		x.tr.Launch(x.kernels[2], shape, piece(s.a), piece(s.b), piece(s.c), value, s.n)
	case memset:
		x.tr.Memset(piece(s.a), value)
	case fetch:
		if s.a == s.b {
			x.tr.Copy(x.host.Slice(0, s.n), piece(s.a))
			x.tr.Copy(piece(s.c), x.host.Slice(0, s.n))
			return
		}
		x.tr.Copy(piece(s.a), piece(s.b))
	case swap:
		b[s.a], b[s.b] = b[s.b], b[s.a]
	case rotate:
		first := b[0]
		copy(b, b[1:])
		b[len(b)-1] = first
	case look:
		x.look(b[s.a])
	case synchronize:
		x.tr.Synchronize()
	case allocate:
		if len(x.all) < 12 {
			x.buffers[s.a] = x.alloc("fresh")
			x.all = append(x.all, x.buffers[s.a])
		}
	case hostCall:
		host := x.host.HostBytes()
		x.tr.HostCall("negate", func() error {
			for i := 3; i < len(host); i += 4 {
				host[i] ^= 0x80
			}
			return nil
		}, tracer.Use{Buffer: x.host, Mode: ir.ReadWrite})
	}
}
