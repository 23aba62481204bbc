package solver

import (
	"fmt"
	"math"

	"github.com/reprise-gpu/reprise/solver/sparse"
)

// Heat integrates du/dt = -Au from u = b by Euler's method, which is stable for steps up to 2/λ, where λ is the
// greatest eigenvalue. It makes Options.MaxIterations steps of Options.Step. The residual is the norm of u divided by
// that of b. A step reads one of two buffers and writes the other, so two steps are traced.
var Heat = Method{
	Name: "heat", Doc: "the heat equation du/dt = -Au from b, --max-iterations steps",
	Remedy:  evolutionRemedy,
	Trace:   func(s *System) func() { return s.traceSteps("heat") },
	problem: heatProblem,
}

// Wave integrates d²u/dt² = -Au from u = b at rest by the leapfrog method, which is stable for steps up to 2/√λ. A
// step overwrites the previous state with the next one, so the two buffers swap roles.
var Wave = Method{
	Name: "wave", Doc: "the wave equation d²u/dt² = -Au from b at rest, --max-iterations steps",
	Remedy:  evolutionRemedy,
	Trace:   func(s *System) func() { return s.traceSteps("wave") },
	problem: waveProblem,
}

const evolutionRemedy = "take a smaller step, with which it is stable where the eigenvalues of the matrix are positive"

func heatProblem(a *sparse.CSR, b []float64, o *Options) (*problem, error) {
	a, up := tamed(a)
	step := math.Ldexp(o.Step, -up)
	if o.Step == 0 {
		step = 1 / largest(a)
	}
	p, err := evolution(a, b, step, o)
	if err != nil {
		return nil, err
	}
	p.residual = make([]float64, len(b)) // the initial content of the other buffer does not matter
	return p, nil
}

func waveProblem(a *sparse.CSR, b []float64, o *Options) (*problem, error) {
	a, up := tamed(a)
	half, odd := up>>1, up&1 // of the exponent, for a square root
	step := math.Ldexp(o.Step, -half)
	if o.Step == 0 {
		step = 1 / math.Sqrt(math.Ldexp(largest(a), -odd))
	}
	factor := math.Ldexp(step*step, -odd)
	p, err := evolution(a, b, factor, o)
	if err != nil {
		return nil, err
	}
	// At rest the state before the first one equals the state after it.
	p.residual = make([]float64, len(b))
	a.Mul(p.residual, p.x0)
	for i, x := range p.x0 {
		p.residual[i] = x - factor/2*p.residual[i]
	}
	return p, nil
}

// largest returns an upper bound of the absolute eigenvalues, or 1 for a matrix without nonzero elements. By Gershgorin's
// theorem every eigenvalue is in a disc around a diagonal element whose radius is the sum of the absolute values of the
// rest of the row, so none exceeds the sum of all of it.
func largest(a *sparse.CSR) float64 {
	bound := 0.0
	for i := range a.Rows {
		sum := 0.0
		_, vals := a.Row(i)
		for _, v := range vals {
			sum += math.Abs(v)
		}
		bound = max(bound, sum)
	}
	if bound == 0 {
		return 1
	}
	return bound
}

// evolution returns the problem of stepping from b by a times factor.
func evolution(a *sparse.CSR, b []float64, factor float64, o *Options) (*problem, error) {
	if o.X0 != nil {
		return nil, fmt.Errorf("x0 is given, but method %s starts from b: leave X0 nil", o.Method.Name)
	}
	e, scale := exponent(b), 1.0
	if n := norm(shifted(b, -e)); n > 0 {
		scale = 1 / n
	}
	p := &problem{a: a, b: []float64{factor}, norm: 1, start: 1, steps: true, x0: scaled(shifted(b, -e), scale)}
	p.conclude = func(x []float64, _ *Result) []float64 { return shifted(scaled(x, 1/scale), e) }
	return p, nil
}

// traceSteps traces two steps, from one buffer to the other and back.
func (s *System) traceSteps(kernel string) func() {
	s.use("time")
	s.Period = 2
	buffers := [2]Vector{s.X, s.Vector("v", s.Residual)}
	s.solution = func(steps int) Vector { return buffers[steps%2] }
	factor := s.Scalar("factor", s.p.b[0])
	norms := s.sums("norms", s.rowBlocks(), 1)
	step := func(from, to Vector) {
		s.over(s.a, "time", kernel, from, factor, to, norms, s.state)
		s.scalar("check", s.rowBlocks(), norms, s.rowBlocks(), s.Running, s.limits, s.history)
	}
	return func() {
		step(buffers[0], buffers[1])
		step(buffers[1], buffers[0])
	}
}
