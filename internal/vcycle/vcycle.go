// Package vcycle records a program for tests that none of the workloads resembles: a V-cycle of geometric multigrid for
// the Poisson equation, with the kernels of its own PTX. It stands for the program of a user.
//
// The equation is A u = f with the five-point Laplacian A and a border of zeros. One replay is one cycle: on each of four
// grids two steps of weighted Jacobi, the residual, and its restriction; then interpolation and two more steps. The last
// operations sum the squares of the residual, with atomic additions.
package vcycle

import (
	_ "embed"
	"fmt"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/ir"
	"github.com/reprise-gpu/reprise/tracer"
)

// N is the number of unknowns in a row of the finest grid.
const N = 31

// Levels is the number of grids: 31, 15, 7 and 3 unknowns in a row.
const Levels = 4

// PTX is the source of the kernels, and Kernels their names.
//
//go:embed mg.ptx
var PTX string

var Kernels = []string{"mg_smooth", "mg_residual", "mg_restrict", "mg_prolong", "mg_norm"}

const tile = 8 // threads of a block in x and in y

// grid holds the buffers of one level.
type grid struct {
	n          int
	u, f, t, r tracer.Buffer
}

// Buffers are those of the program that a test writes or reads.
type Buffers struct {
	F, U tracer.Buffer // (N+2) x (N+2) numbers each
	Norm tracer.Buffer // the square of the norm of the residual
}

// Record records a cycle. The caller closes the trace.
func Record(dev device.Device) (*tracer.Trace, Buffers, error) {
	t := tracer.New(dev, "vcycle", tracer.Deferred)
	m := t.Module("mg.ptx", PTX)
	p := program{t: t, omega: t.Param("omega", ir.F32, float32(0.8/4)), kernels: map[string]*tracer.Kernel{}}
	for _, name := range Kernels {
		p.kernels[name] = m.Kernel(name)
	}
	for level := range Levels {
		p.alloc(level)
	}
	p.cycle(0)
	g := p.grids[0]
	norm := t.Alloc("norm", ir.F32, 1, ir.Output)
	p.launch("mg_residual", "residual:end", g.n, g.u, g.f, g.r)
	t.Memset(norm, 0).Named("zero:norm")
	p.launch("mg_norm", "norm", g.n, g.r, norm)
	trace, err := t.Finish()
	return trace, Buffers{F: g.f, U: g.u, Norm: norm}, err
}

// program is what is recorded so far.
type program struct {
	t       *tracer.Tracer
	kernels map[string]*tracer.Kernel
	omega   tracer.Param
	grids   []grid
}

// alloc allocates the buffers of a level and clears those whose border is read.
func (p *program) alloc(level int) {
	n := (N+1)>>level - 1
	size := int64(n+2) * int64(n+2)
	role := [2]ir.Role{ir.InOut, ir.Constant}
	if level > 0 {
		role = [2]ir.Role{ir.Temporary, ir.Temporary}
	}
	buffer := func(name string, role ir.Role) tracer.Buffer {
		return p.t.Alloc(fmt.Sprint(name, level), ir.F32, size, role)
	}
	g := grid{n: n, u: buffer("u", role[0]), f: buffer("f", role[1]), t: buffer("t", ir.Temporary), r: buffer("r", ir.Temporary)}
	p.grids = append(p.grids, g)
	p.t.Memset(g.t, 0).Named(fmt.Sprint("zero:t", level))
	p.t.Memset(g.r, 0).Named(fmt.Sprint("zero:r", level))
	if level > 0 {
		p.t.Memset(g.u, 0).Named(fmt.Sprint("zero:u", level))
	}
}

// cycle records the part of a cycle from a level down.
func (p *program) cycle(level int) {
	g := p.grids[level]
	p.smooth(level, "before")
	if level+1 < Levels {
		next := p.grids[level+1]
		p.launch("mg_residual", fmt.Sprint("residual:", level), g.n, g.u, g.f, g.r)
		p.launch("mg_restrict", fmt.Sprint("restrict:", level), next.n, g.r, next.f)
		p.cycle(level + 1)
		p.launch("mg_prolong", fmt.Sprint("prolong:", level), g.n, next.u, g.u)
	}
	p.smooth(level, "after")
}

// smooth records two steps of Jacobi: there and back.
func (p *program) smooth(level int, when string) {
	g := p.grids[level]
	p.launch("mg_smooth", fmt.Sprintf("smooth:%d:%s:1", level, when), g.n, g.u, g.f, g.t, p.omega)
	p.launch("mg_smooth", fmt.Sprintf("smooth:%d:%s:2", level, when), g.n, g.t, g.f, g.u, p.omega)
}

// launch launches a kernel on n x n unknowns; n is the last argument of all kernels.
func (p *program) launch(kernel, label string, n int, args ...any) {
	blocks := uint32((n + tile - 1) / tile)
	shape := tracer.Shape{Grid: ir.Dim3{X: blocks, Y: blocks, Z: 1}, Block: ir.Dim3{X: tile, Y: tile, Z: 1}}
	p.t.Launch(p.kernels[kernel], shape, append(args, n)...).Named(label)
}
