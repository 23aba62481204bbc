package solver

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/graphexec/loop"
	"github.com/reprise-gpu/reprise/internal/sim"
	"github.com/reprise-gpu/reprise/internal/wrap"
	"github.com/reprise-gpu/reprise/solver/sparse"
)

// everyWay lists the modes and lowerings, with looks of every rhythm.
func everyWay() (all []Options) {
	for _, every := range []int{1, 3, 16, 50} {
		for _, mode := range Modes() {
			if mode != Loop {
				all = append(all, Options{Mode: mode, CheckEvery: every})
				continue
			}
			for _, lowering := range []loop.Lowering{loop.HostChecked, loop.Unrolled, loop.WhileNode} {
				all = append(all, Options{Mode: Loop, CheckEvery: every, Lowering: lowering})
			}
		}
	}
	return all
}

// bits are numbers of which no two that differ are equal, nor a NaN unequal to itself.
func bits(x []float64) []uint64 {
	b := make([]uint64, len(x))
	for i, v := range x {
		b[i] = math.Float64bits(v)
	}
	return b
}

// sameEveryWay solves in every way and requires one result. It returns that.
func sameEveryWay(t *testing.T, about string, a *sparse.CSR, b []float64, o Options) (Result, error) {
	t.Helper()
	var first []float64
	var result Result
	var failed error
	for i, way := range everyWay() {
		w := o
		w.Mode, w.CheckEvery, w.Lowering = way.Mode, way.CheckEvery, way.Lowering
		x, res, err := Solve(context.Background(), open(t, sim.Options{}), a, b, w)
		if i == 0 {
			first, result, failed = x, res, err
		}
		about := fmt.Sprintf("%s: mode %v, lowering %v, a check every %d", about, w.Mode, w.Lowering, w.CheckEvery)
		require.Equal(t, fmt.Sprint(failed), fmt.Sprint(err), about)
		require.Equal(t, result.Iterations, res.Iterations, about)
		require.Equal(t, bits(first), bits(x), "%s: %v, %v", about, first, x)
		require.Equal(t, bits(result.History), bits(res.History), about)
	}
	return result, failed
}

// TestAConstantFactorStandsStillPastTheEnd has a factor that nothing sets to zero: Richardson's iteration.
func TestAConstantFactorStandsStillPastTheEnd(t *testing.T) {
	richardson := Method{Name: "richardson", Trace: func(s *System) func() {
		r, q := s.Vector("r", s.Residual), s.Temporary("q")
		omega, norm := s.Scalar("omega", 0.2), s.TemporaryScalar("norm")
		return func() {
			s.Axpy(omega, r, s.X)
			s.SpMV(r, q)
			s.Subtract(omega, q, r)
			s.Dot(r, r, norm)
			s.Check(norm)
		}
	}}
	for _, precision := range []Precision{Double, Single} {
		res, err := sameEveryWay(t, "richardson", diagonal(t, 2, 1), []float64{1, 1}, Options{Method: richardson, Precision: precision})
		require.NoError(t, err)
		assert.InEpsilon(t, res.Residual, res.TrueResidual, 0.1, "the solution is that of the last iteration")
	}
}

// user is a random method of System's operations.
type user struct {
	*rand.Rand
	vectors, scalars int // that it keeps; the first vector is X
	temporaries      int // vectors, and as many scalars
	steps            []step
	after            int // of these, that follow Check
}

// step is an operation and which operands it has.
type step struct {
	operation string
	operands  [3]int
}

func newUser(seed uint64) *user {
	u := &user{Rand: rand.New(rand.NewPCG(seed, 17))}
	u.vectors, u.scalars, u.temporaries = 2+u.IntN(2), 2+u.IntN(2), 1+u.IntN(2)
	n := 2 + u.IntN(6)
	for range n {
		operation := []string{"spmv", "dot", "axpy", "subtract", "xpay", "divide", "axpy", "subtract"}[u.IntN(8)]
		u.steps = append(u.steps, step{operation, [3]int{u.IntN(100), u.IntN(100), u.IntN(100)}})
	}
	u.after = u.IntN(min(n, 3))
	return u
}

// method is what the random numbers come to. Operands are drawn from what may be read at that point.
func (u *user) method() Method {
	return Method{Name: "random", Breakdown: "by chance", Trace: func(s *System) func() {
		kept, scalars := []Vector{s.X}, []Vector{s.Running}
		for i := range u.vectors {
			kept = append(kept, s.Vector("kept", [][]float64{s.Residual, nil}[i%2]))
		}
		for i := range u.scalars {
			scalars = append(scalars, s.Scalar("factor", []float64{0.3, -0.2, 1, 0}[i%4]))
		}
		var vectors, results []Vector
		for range u.temporaries {
			vectors, results = append(vectors, s.Temporary("t")), append(results, s.TemporaryScalar("v"))
		}
		shrinks, third, norm := s.Vector("shrinks", s.Residual), s.Scalar("third", 0.3), s.TemporaryScalar("norm")
		one := s.Scalar("one", 1)
		return func() {
			readable, factors := slices.Clone(kept), slices.Clone(scalars)
			perform := func(st step) {
				x, y, a := readable[st.operands[0]%len(readable)], readable[st.operands[1]%len(readable)], factors[st.operands[2]%len(factors)]
				target := slices.Concat(kept, vectors)[st.operands[1]%(len(kept)+len(vectors))]
				sums := slices.Concat(scalars[1:], results)
				sum := sums[st.operands[1]%len(sums)]
				switch st.operation {
				case "spmv":
					if target != x {
						s.SpMV(x, target)
						readable = append(readable, target)
					}
				case "dot":
					s.Dot(x, y, sum)
					factors = append(factors, sum)
				case "axpy":
					s.Axpy(a, x, y)
				case "subtract":
					s.Subtract(a, x, y)
				case "xpay":
					s.Xpay(x, a, y)
				case "divide":
					s.Divide(factors[st.operands[0]%len(factors)], one, sum)
					factors = append(factors, sum)
				}
			}
			before := len(u.steps) - u.after
			for _, st := range u.steps[:before] {
				perform(st)
			}
			s.Axpy(third, shrinks, s.X)
			s.Subtract(third, shrinks, shrinks)
			s.Dot(shrinks, shrinks, norm)
			s.Check(norm)
			for _, st := range u.steps[before:] {
				perform(st)
			}
		}
	}}
}

func TestRandomMethodsComeToOneResult(t *testing.T) {
	seeds := uint64(5)
	if testing.Short() {
		seeds = 4
	}
	ends := map[string]int{}
	for seed := range seeds {
		u := newUser(seed)
		n := 1 + u.IntN(6)
		a := generate("spd:%d,%d,%d", n, min(n, 3), seed)
		o := Options{
			Method: u.method(), Precision: Precision(seed % 2), Tolerance: math.Pow(10, -1-2*u.Float64()), MaxIterations: 4 + u.IntN(25),
			Divergence: []float64{0, math.MaxFloat64}[u.IntN(2)],
		}
		_, err := sameEveryWay(t, fmt.Sprintf("seed %d, %d unknowns, %v, then %v", seed, n, u.steps, u.after), a, random(n, seed), o)
		ends[fmt.Sprintf("%T", err)]++
		require.False(t, strings.Contains(fmt.Sprint(err), "method random"), "%v", err)
	}
	t.Log(ends)
	assert.Greater(t, len(ends), 1, "%v", ends)
}

// TestWhatNoMethodMayDo has one error in every mode, before anything is launched, or with the call that differs.
func TestWhatNoMethodMayDo(t *testing.T) {
	ending := func(s *System, iterate func()) func() {
		r, norm := s.Vector("r", s.Residual), s.TemporaryScalar("norm")
		return func() {
			iterate()
			s.Dot(r, r, norm)
			s.Check(norm)
		}
	}
	foreign := foreignVectors(t)
	for _, c := range []struct {
		about, want string
		trace       func(s *System) func()
	}{
		{"no function", "method wrong: Trace returns nil: return the function that issues one iteration", func(*System) func() { return nil }},
		{"an operation of Trace", "method wrong: SpMV(@x, @q): it is issued by Trace: issue it in the function that Trace returns", func(s *System) func() {
			s.SpMV(s.X, s.Temporary("q"))
			return ending(s, func() {})
		}},
		{"a zero vector of Trace", "method wrong: SpMV(@x, a zero Vector): it is issued by Trace", func(s *System) func() {
			s.SpMV(s.X, Vector{})
			return ending(s, func() {})
		}},
		{"a zero vector later", "method wrong: SpMV(a zero Vector, @u): the first call of the function that Trace returns did not issue it there", func(s *System) func() {
			u, w := s.Vector("u", nil), s.Vector("w", nil)
			return ending(s, func() {
				s.SpMV(w, u)
				w = Vector{}
			})
		}},
		{"a method of this package in Trace", "it is issued by Trace", func(s *System) func() {
			CG.Trace(s)()
			return ending(s, func() {})
		}},
		{"an allocation of the function", `method wrong: Vector("late"): the function that Trace returns allocates it, again in each call: allocate in Trace`, func(s *System) func() {
			return ending(s, func() { s.Vector("late", nil) })
		}},
		{"a vector too short", `method wrong: Vector("short"): it starts as 2 numbers, and vectors have 4: pass one for each unknown`, func(s *System) func() {
			s.Vector("short", []float64{1, 2})
			return ending(s, func() {})
		}},
		{"a zero vector", "method wrong: SpMV(@x, a zero Vector): operand 2 is a zero Vector: allocate it in Trace", func(s *System) func() {
			return ending(s, func() { s.SpMV(s.X, Vector{}) })
		}},
		{"a vector for a scalar", "method wrong: Axpy(@r, @r, @x): @r has 4 elements, not 1: pass a vector", func(s *System) func() {
			r := s.Vector("r", nil)
			return ending(s, func() { s.Axpy(r, r, s.X) })
		}},
		{"a scalar for a vector", "method wrong: Dot(@running, @x, @v): @running has 1 elements, not 4", func(s *System) func() {
			v := s.TemporaryScalar("v")
			return ending(s, func() { s.Dot(s.Running, s.X, v) })
		}},
		{"a product in place", "method wrong: SpMV(@x, @x): it writes @x while it reads it: use other memory for the result", func(s *System) func() {
			return ending(s, func() { s.SpMV(s.X, s.X) })
		}},
		{"a factor of the result", "method wrong: Axpy(@x, @r, @x): it writes @x while it reads it", func(s *System) func() {
			r := s.Vector("r", nil)
			return ending(s, func() { s.Axpy(s.X.Slice(1, 2), r, s.X) })
		}},
		{"a temporary not written", "method wrong: Axpy(@running, @x, @q): temporary @q is read before the iteration has written it: write it first, or allocate it with", func(s *System) func() {
			q := s.Temporary("q")
			return ending(s, func() { s.Axpy(s.Running, s.X, q) })
		}},
		{"a temporary written in part", "temporary @q is read before", func(s *System) func() {
			q, v := s.Temporary("q"), s.Vector("v", nil)
			return ending(s, func() {
				s.Divide(s.Running, s.Running, q.Slice(0, 1))
				s.Divide(s.Running, s.Running, q.Slice(2, 4).Slice(0, 2).Slice(1, 2))
				s.SpMV(q, v)
			})
		}},
		{"no end", "ends 0 iterations, not 1: end each iteration with System.Check", func(s *System) func() { return func() {} }},
		{"two ends", "ends 2 iterations, not 1", func(s *System) func() {
			v := s.Scalar("v", 1)
			return func() {
				s.Check(v)
				s.Check(v)
			}
		}},
		{"a period that is none", "ends 1 iterations, not 3", func(s *System) func() {
			s.Period = 3
			return ending(s, func() {})
		}},
		{"no solution", "method wrong: System.X is not a vector that the method keeps", func(s *System) func() {
			s.X = s.Temporary("mine")
			return ending(s, func() {})
		}},
		{"a first iteration of its own", "method wrong: SpMV(@x, @q): the first call of the function that Trace returns issued it, and a later one does not: issue the same operations in each call", func(s *System) func() {
			q, first := s.Temporary("q"), true
			end := ending(s, func() {})
			return func() {
				end()
				if first {
					s.SpMV(s.X, q)
				}
				first = false
			}
		}},
		{"operands that change places", "method wrong: Axpy(@running, @w, @u): the first call of the function that Trace returns did not issue it there: issue the same operations in each call, and set System.Period", func(s *System) func() {
			u, w := s.Vector("u", nil), s.Vector("w", nil)
			return ending(s, func() {
				s.Axpy(s.Running, u, w)
				u, w = w, u
			})
		}},
		{"a period that grows", "method wrong: System.Period has been changed: set System.X, System.Running and System.Period in Trace alone", func(s *System) func() {
			calls := 0
			return ending(s, func() {
				if calls++; calls > 1 {
					s.Period = 3
				}
			})
		}},
		{"a period of the first call", "method wrong: System.Period has been changed", func(s *System) func() {
			return ending(s, func() { s.Period = 1 })
		}},
		{"a period at the end of a call", "method wrong: System.Period has been changed", func(s *System) func() {
			calls, iterate := 0, ending(s, func() {})
			return func() {
				if iterate(); calls > 0 {
					s.Period = math.MaxInt
				}
				calls++
			}
		}},
		{"another solution later", "method wrong: System.X has been changed", func(s *System) func() {
			y, calls, iterate := s.Vector("y", nil), 0, ending(s, func() {})
			return func() {
				if iterate(); calls > 0 {
					s.X = y
				}
				calls++
			}
		}},
		{"another scalar later", "method wrong: System.Running has been changed", func(s *System) func() {
			y, calls := s.Scalar("y", 1), 0
			return ending(s, func() {
				if calls++; calls > 1 {
					s.Running = y
				}
			})
		}},
		{"fewer unknowns of Trace", "method wrong: System.N has been changed: ", func(s *System) func() {
			s.N = 2
			return ending(s, func() {})
		}},
		{"no scalar", "method wrong: System.Running is not a scalar that the method keeps: leave it, or put what System.Scalar returns in its place", func(s *System) func() {
			s.Running = Vector{}
			return ending(s, func() {})
		}},
		{"a vector for the scalar", "method wrong: System.Running is not a scalar that the method keeps", func(s *System) func() {
			s.Running = s.X
			return ending(s, func() {})
		}},
		{"a temporary for the scalar", "method wrong: System.Running is not a scalar that the method keeps", func(s *System) func() {
			s.Running = s.TemporaryScalar("mine")
			return ending(s, func() {})
		}},
		{"the scalar of another system", "method wrong: System.Running is not a scalar that the method keeps", func(s *System) func() {
			s.Running = foreign.Scalar
			return ending(s, func() {})
		}},
		{"the solution of another system", "method wrong: System.X is not a vector that the method keeps", func(s *System) func() {
			s.X = foreign.Vector
			return ending(s, func() {})
		}},
		{"a vector of another system", "method wrong: SpMV(@x, @k): operand 2, @k, is of another System: allocate it in Trace, with a method of the System that Trace is passed", func(s *System) func() {
			return ending(s, func() { s.SpMV(s.X, foreign.Vector) })
		}},
		{"a temporary of another system", "method wrong: Dot(@k_3, @x, @v): operand 1, @k_3, is of another System", func(s *System) func() {
			v := s.TemporaryScalar("v")
			return ending(s, func() { s.Dot(foreign.Temporary, s.X, v) })
		}},
		{"a scalar of another system, to end with", "method wrong: Check(@k_2): operand 1, @k_2, is of another System", func(s *System) func() {
			return func() { s.Check(foreign.Scalar) }
		}},
		{"a part of a vector of another system, which has the number of one of this", "is of another System", func(s *System) func() {
			v := s.Vector("v", nil)
			return ending(s, func() { s.Axpy(foreign.Vector.Slice(1, 2), v, s.X) })
		}},
		{"a vector of another system later", "did not issue it there", func(s *System) func() {
			v := s.Vector("v", nil)
			return ending(s, func() {
				s.SpMV(s.X, v)
				v = foreign.Vector
			})
		}},
		{"more unknowns than memory holds", "method wrong: System.N has been changed: ", func(s *System) func() {
			s.N = math.MaxInt
			s.Temporary("t")
			s.Scalar("a", 1)
			return ending(s, func() { s.SpMV(s.Vector("late", nil), s.X) })
		}},
		{"fewer than no unknowns", "method wrong: System.N has been changed: ", func(s *System) func() {
			s.N = -1
			return ending(s, func() { s.SpMV(s.Vector("v", nil), s.Temporary("t")) })
		}},
		{"fewer unknowns once Trace has allocated", "method wrong: System.N has been changed", func(s *System) func() {
			x, end := s.X, ending(s, func() {})
			s.N, s.X = 2, s.X.Slice(0, 2)
			return func() {
				s.Axpy(s.Running, x.Slice(2, 4), s.X)
				end()
			}
		}},
		{"no unknowns in a later call of a method of this package", "method wrong: System.N has been changed", func(s *System) func() {
			calls, iterate := 0, CG.Trace(s)
			return func() {
				if calls++; calls > 1 {
					s.N = 0
				}
				iterate()
			}
		}},
		{"more operations later", "the first call of the function that Trace returns did not issue it there", func(s *System) func() {
			calls := 0
			norm := s.Scalar("norm", 1)
			return func() {
				s.Check(norm)
				if calls++; calls > 1 {
					s.Check(norm)
				}
			}
		}},
	} {
		message := ""
		for _, mode := range Modes() {
			x, _, err := Solve(context.Background(), open(t, sim.Options{}), generate("poisson2d:2"), random(4, 1), Options{Method: Method{Name: "wrong", Trace: c.trace}, Mode: mode, MaxIterations: 20})
			assert.Nil(t, x, "%s, mode %v", c.about, mode)
			require.ErrorContains(t, asError[*MethodError](t, err), c.want, "%s, mode %v", c.about, mode)
			if message == "" {
				message = err.Error()
			}
			assert.Equal(t, message, err.Error(), "%s, mode %v", c.about, mode)
		}
	}
}

// vectors has one of each kind.
type vectors struct{ Vector, Scalar, Temporary Vector }

// foreignVectors returns vectors of 4 elements of a system that has been solved.
func foreignVectors(t *testing.T) (v vectors) {
	m := Method{Name: "other", Trace: func(s *System) func() {
		v = vectors{s.Vector("k", nil), s.Scalar("k", 1), s.Temporary("k")}
		return func() { s.Check(v.Scalar) }
	}}
	_, _, err := Solve(context.Background(), open(t, sim.Options{}), generate("poisson2d:2"), random(4, 1), Options{Method: m, MaxIterations: 1})
	asError[*NotConvergedError](t, err)
	return v
}

// TestErrorsOfTheTracerAreTheSameInEveryMode has slices that the tracer refuses: there is no solution in any mode.
func TestErrorsOfTheTracerAreTheSameInEveryMode(t *testing.T) {
	for first := range 2 {
		m := Method{Name: "wrong", Trace: func(s *System) func() {
			r, norm, calls := s.Vector("r", s.Residual), s.TemporaryScalar("norm"), 0
			return func() {
				if calls++; calls > first {
					s.Axpy(s.Running, r.Slice(1, 6), s.X)
				}
				s.Dot(r, r, norm)
				s.Check(norm)
			}
		}}
		message := ""
		for _, mode := range Modes() {
			x, _, err := Solve(context.Background(), open(t, sim.Options{}), generate("poisson2d:2"), random(4, 1), Options{Method: m, Mode: mode, MaxIterations: 20})
			assert.Nil(t, x, "mode %v", mode)
			require.ErrorContains(t, err, "slice [1:6) of @r, which has 4 elements")
			if message == "" {
				message = err.Error()
			}
			assert.Equal(t, message, err.Error(), "mode %v", mode)
		}
	}
}

// TestALaterCallThatDiffers is seen by the eager modes, which alone make one.
func TestALaterCallThatDiffers(t *testing.T) {
	for _, mode := range []Mode{Eager, Auto} {
		calls := 0
		m := Method{Name: "late", Trace: func(s *System) func() {
			r, norm := s.Vector("r", s.Residual), s.TemporaryScalar("norm")
			return func() {
				if calls++; calls == 7 {
					s.Axpy(s.Running, r, s.X)
				}
				s.Dot(r, r, norm)
				s.Check(norm)
			}
		}}
		x, _, err := Solve(context.Background(), open(t, sim.Options{}), generate("poisson2d:2"), random(4, 1), Options{Method: m, Mode: mode, MaxIterations: 20})
		assert.Nil(t, x)
		assert.ErrorContains(t, asError[*MethodError](t, err), "did not issue it there")
	}
}

// TestALaterCallThatChangesTheSystem ends at the call, before a deadline.
func TestALaterCallThatChangesTheSystem(t *testing.T) {
	for _, mode := range []Mode{Eager, Auto} {
		for field, change := range map[string]func(s *System){
			"Period":  func(s *System) { s.Period = math.MaxInt },
			"N":       func(s *System) { s.N = math.MaxInt },
			"X":       func(s *System) { s.X = Vector{} },
			"Running": func(s *System) { s.Running = Vector{} },
		} {
			calls := 0
			m := Method{Name: "late", Trace: func(s *System) func() {
				r, norm := s.Vector("r", s.Residual), s.TemporaryScalar("norm")
				return func() {
					s.Dot(r, r, norm)
					s.Check(norm)
					if calls++; calls == 7 {
						change(s)
					}
				}
			}}
			x, _, err := Solve(context.Background(), open(t, sim.Options{}), generate("poisson2d:2"), random(4, 1), Options{Method: m, Mode: mode, MaxIterations: 20})
			assert.Nil(t, x)
			assert.ErrorContains(t, asError[*MethodError](t, err), "System."+field+" has been changed")
			assert.Equal(t, 7, calls, "mode %v", mode)
		}
	}
}

// TestVectorsStartAsTheDataOfTheCall changes the data once the vector has it.
func TestVectorsStartAsTheDataOfTheCall(t *testing.T) {
	m := Method{Name: "mine", Trace: func(s *System) func() {
		start := []float64{1, 2, 3, 4}
		r, norm := s.Vector("r", start), s.TemporaryScalar("norm")
		return func() {
			start[0]++
			s.Axpy(s.Running, r, s.X)
			s.Dot(r, r, norm)
			s.Check(norm)
		}
	}}
	for _, mode := range Modes() {
		x, _, err := Solve(context.Background(), open(t, sim.Options{}), generate("poisson2d:2"), random(4, 1), Options{Method: m, Mode: mode, MaxIterations: 2})
		asError[*NotConvergedError](t, err)
		assert.Equal(t, []float64{2, 4, 6, 8}, x, "mode %v", mode)
	}
}

// TestMethodsMayUseThoseOfThePackage adds to an iteration of conjugate gradients.
func TestMethodsMayUseThoseOfThePackage(t *testing.T) {
	m := CG
	m.Name, m.Trace = "more", func(s *System) func() {
		iterate, q, away := CG.Trace(s), s.Temporary("q"), s.Vector("away", nil)
		return func() {
			iterate()
			s.SpMV(s.X, q)
			s.Xpay(q, s.Running, away)
		}
	}
	a, b := generate("poisson2d:4"), random(16, 1)
	want, _, err := Solve(context.Background(), open(t, sim.Options{}), a, b, Options{})
	require.NoError(t, err)
	for _, mode := range Modes() {
		x, _, err := Solve(context.Background(), open(t, sim.Options{}), a, b, Options{Method: m, Mode: mode})
		require.NoError(t, err)
		assert.Equal(t, want, x, "mode %v", mode)
	}
}

// TestMemoryThatEndsInAMethodOfOnesOwn reports what failed, and not what comes of that.
func TestMemoryThatEndsInAMethodOfOnesOwn(t *testing.T) {
	m := Method{Name: "mine", Trace: func(s *System) func() {
		r, norm := s.Vector("r", s.Residual), s.TemporaryScalar("norm")
		return func() {
			s.Axpy(s.Running, r, s.X)
			s.Dot(r, r, norm)
			s.Check(norm)
		}
	}}
	for _, mode := range Modes() {
		for n := 1; ; n++ {
			calls := 0
			fail := func(_ int, method string) device.Code {
				if frees(method) {
					return 0
				}
				if calls++; calls == n {
					return device.OutOfMemory
				}
				return 0
			}
			_, _, err := Solve(context.Background(), wrap.Faults(open(t, sim.Options{}), fail), generate("poisson2d:2"), random(4, 1), Options{Method: m, Mode: mode, MaxIterations: 3})
			if calls < n {
				assert.Greater(t, n, 20)
				break
			}
			if err != nil && device.CodeOf(err) != device.OutOfMemory {
				asError[*NotConvergedError](t, err) // it did without
			}
		}
	}
}

// TestASampledDeviceTakesItsTimeForMethodsOfOnesOwn has one that comes to its end at once, and one that does not.
func TestASampledDeviceTakesItsTimeForMethodsOfOnesOwn(t *testing.T) {
	a := generate("poisson2d:256")
	var took [2]time.Duration
	for i := range took {
		m := Method{Name: "long", Trace: func(s *System) func() {
			r, norm := s.Vector("r", s.Residual), s.Scalar("norm", float64(i))
			return func() {
				s.Axpy(s.Running, r, s.X)
				s.SpMV(s.X, r)
				s.Check(norm)
			}
		}}
		_, res, err := Solve(context.Background(), open(t, sim.Options{Sample: 1024, Memo: sim.MemoOff}), a, random(a.Rows, 1), Options{Method: m, MaxIterations: 8, Sampled: true})
		require.NoError(t, err)
		took[i] = res.Time
	}
	assert.InEpsilon(t, took[1].Seconds(), took[0].Seconds(), 0.1, "%v", took)
}
