package interp

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
)

// The differential test runs random straight-line programs through the interpreter
// and, one thread and one instruction at a time, through the naive evaluator. A
// program that differs is cut down to the instructions that matter.

// registersOf is the number of registers of each class in a program.
var registersOf = map[byte]int{'h': 4, 'r': 6, 'l': 4, 'p': 3}

// widths of the registers, in bits.
var widths = map[byte]int{'h': 16, 'r': 32, 'l': 64}

// classes in the order they lie in a thread's state, eight bytes a register.
const classes = "hrlp"

const stateWords = 4 + 6 + 4 + 3

// step is an instruction of a program: a form, its registers by number, and the
// guard.
type diffStep struct {
	form
	dests, sources []operandRef
	guard          int // predicate, -1 without
	negated        bool
}

// operandRef is a register by class and number, or a constant.
type operandRef struct {
	class byte
	n     int
	imm   bool
	value uint64
	minus bool // written as the negative number of its 64-bit complement
}

func (o operandRef) String() string {
	switch {
	case o.imm && o.minus:
		return fmt.Sprint(int64(o.value | ^uint64(0)<<(widths[o.class]-1)))
	case o.imm:
		return fmt.Sprint(o.value)
	}
	return fmt.Sprintf("%%%c%d", o.class, o.n)
}

// at is the register's place in the state.
func (o operandRef) at() int {
	place := 0
	for i := range len(classes) {
		if classes[i] == o.class {
			return place + o.n
		}
		place += registersOf[classes[i]]
	}
	panic("no such class")
}

func randomStep(r *rand.Rand, f form) diffStep {
	s := diffStep{form: f, guard: -1}
	if r.IntN(5) == 0 {
		s.guard, s.negated = r.IntN(registersOf['p']), r.IntN(2) == 0
	}
	dests, sources, _ := strings.Cut(f.args, "=")
	for i := range len(dests) {
		if dests[i] == 'c' {
			continue
		}
		d := operandRef{class: dests[i], n: r.IntN(registersOf[dests[i]])}
		for slices.Contains(s.dests, d) { // two results in one register have no order
			d.n = (d.n + 1) % registersOf[d.class]
		}
		s.dests = append(s.dests, d)
	}
	for i := range len(sources) {
		switch c := sources[i]; {
		case c == 'c':
		case c == 'n' && r.IntN(2) == 0:
			s.sources = append(s.sources, operandRef{imm: true, value: uint64(r.IntN(80))})
		case c == 'n':
			s.sources = append(s.sources, operandRef{class: 'r', n: r.IntN(registersOf['r'])})
		case c >= 'H' && c <= 'R' && r.IntN(6) == 0:
			s.sources = append(s.sources, randomNumber(r, c|0x20))
		default:
			s.sources = append(s.sources, operandRef{class: c | 0x20, n: r.IntN(registersOf[c|0x20])})
		}
	}
	return s
}

// randomNumber returns a constant that replaces a register of a class.
func randomNumber(r *rand.Rand, class byte) operandRef {
	width := uint(widths[class])
	o := operandRef{class: class, imm: true, value: corner(r, width)}
	o.minus = o.value>>(width-1) == 1 && r.IntN(2) == 0
	return o
}

// ptx is the step's instructions, each under its guard.
func (s diffStep) ptx() string {
	var pairs []string
	for i, d := range s.dests {
		pairs = append(pairs, "$"+string("de"[i]), d.String())
	}
	for i, a := range s.sources {
		pairs = append(pairs, "$"+string("abcf"[i]), a.String())
	}
	text := strings.NewReplacer(pairs...).Replace(s.text)
	if s.guard >= 0 {
		guard := fmt.Sprintf("@%%p%d ", s.guard)
		if s.negated {
			guard = "@!" + guard[1:]
		}
		text = guard + strings.ReplaceAll(text, "\n", "\n"+guard)
	}
	return text
}

// run is the step in the naive evaluator.
func (s diffStep) run(state []uint64, carry *uint64) {
	if s.guard >= 0 {
		p := state[operandRef{class: 'p', n: s.guard}.at()]
		if (p == 1) == s.negated {
			return
		}
	}
	var v []uint64
	for _, a := range s.sources {
		if a.imm {
			v = append(v, a.value)
		} else {
			v = append(v, state[a.at()])
		}
	}
	if strings.HasSuffix(s.args, "c") {
		v = append(v, *carry)
	}
	out := s.eval(v)
	for i, d := range s.dests {
		state[d.at()] = out[i]
	}
	if len(out) > len(s.dests) {
		*carry = out[len(out)-1]
	}
}

// diffProgram is the kernel of some steps: it loads a thread's registers, runs, and
// stores them.
func diffProgram(steps []diffStep) string {
	var b strings.Builder
	fmt.Fprintf(&b, ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry op(.param .u64 in, .param .u64 out)\n{\n")
	fmt.Fprintf(&b, ".reg .b16 %%h<4>, %%ht;\n.reg .b32 %%r<6>, %%rt, %%i;\n.reg .b64 %%l<4>, %%lt, %%x, %%y;\n.reg .pred %%p<3>, %%pt;\n")
	fmt.Fprintf(&b, "mov.u32 %%i, %%tid.x;\nld.param.u64 %%x, [in];\nmad.wide.u32 %%x, %%i, %d, %%x;\nld.param.u64 %%y, [out];\nmad.wide.u32 %%y, %%i, %d, %%y;\n", 8*stateWords, 8*stateWords)
	each := func(f func(o operandRef, at int)) {
		for i := range len(classes) {
			for n := range registersOf[classes[i]] {
				o := operandRef{class: classes[i], n: n}
				f(o, 8*o.at())
			}
		}
	}
	each(func(o operandRef, at int) {
		if o.class == 'p' {
			fmt.Fprintf(&b, "ld.global.b32 %%rt, [%%x+%d];\nsetp.ne.b32 %s, %%rt, 0;\n", at, o)
			return
		}
		fmt.Fprintf(&b, "ld.global.b%d %s, [%%x+%d];\n", widths[o.class], o, at)
	})
	fmt.Fprintf(&b, "add.cc.u32 %%rt, %%rt, 0;\n")
	for _, s := range steps {
		b.WriteString(s.ptx() + "\n")
	}
	each(func(o operandRef, at int) {
		if o.class == 'p' {
			fmt.Fprintf(&b, "selp.u64 %%lt, 1, 0, %s;\nst.global.b64 [%%y+%d], %%lt;\n", o, at)
			return
		}
		fmt.Fprintf(&b, "st.global.b%d [%%y+%d], %s;\n", widths[o.class], at, o)
	})
	fmt.Fprintf(&b, "ret;\n}\n")
	return b.String()
}

const diffThreads = 40

// randomStates are the threads' registers: numbers near the ends of ranges, floats
// near ties and of every kind, and any bits.
func randomStates(r *rand.Rand) [][]uint64 {
	states := make([][]uint64, diffThreads)
	for t := range states {
		for i := range len(classes) {
			for range registersOf[classes[i]] {
				var v uint64
				switch classes[i] {
				case 'h':
					v = interesting(r, numerics["f16"], numerics["bf16"])
				case 'r':
					v = interesting(r, numerics["f32"], numerics["f32"])
				case 'l':
					v = interesting(r, numerics["f64"], numerics["f64"])
				case 'p':
					v = r.Uint64N(2)
				}
				states[t] = append(states[t], v)
			}
		}
	}
	return states
}

func interesting(r *rand.Rand, floats ...numeric) uint64 {
	t := floats[r.IntN(len(floats))]
	mask := t.mask()
	switch r.IntN(8) {
	case 0:
		return r.Uint64N(70)
	case 1:
		return -r.Uint64N(70) & mask
	case 2:
		return corner(r, uint(t.bits))
	case 3:
		return t.withSign([]uint64{0, t.inf(), t.inf() - 1, t.nan(), 1, 1 << t.frac, 1<<t.frac - 1, t.one()}[r.IntN(8)], r.IntN(2) == 0)
	case 4, 5: // of middling size
		return nasty(r, uint(t.frac), uint(t.exp)) & mask
	}
	return r.Uint64() & mask
}

// differs runs the steps both ways and describes the first difference, "" without
// one.
func differs(t testing.TB, steps []diffStep, states [][]uint64) string {
	d := open(t, "op.ptx", diffProgram(steps))
	var flat []uint64
	for _, s := range states {
		flat = append(flat, s...)
	}
	in, out := buffer(d, "in", flat), buffer(d, "out", make([]uint64, len(flat)))
	_, f := d.kernel("op").Run(d.mem, Launch{Grid: dims(1, 1, 1), Block: dims(uint32(len(states)), 1, 1), Params: params(in, out)})
	if f != nil {
		return f.Error()
	}
	got := contents[uint64](d, out)
	for i, s := range states {
		want, carry := slices.Clone(s), uint64(0)
		for _, step := range steps {
			step.run(want, &carry)
		}
		for k, w := range want {
			if g := got[i*stateWords+k]; g != w {
				return fmt.Sprintf("thread %d, register %s: got %#x, want %#x", i, registerAt(k), g, w)
			}
		}
	}
	return ""
}

func registerAt(k int) string {
	for i := range len(classes) {
		if n := registersOf[classes[i]]; k >= n {
			k -= n
		} else {
			return operandRef{class: classes[i], n: k}.String()
		}
	}
	return "?"
}

// shrink drops steps and threads as long as the program differs.
func shrink(t testing.TB, steps []diffStep, states [][]uint64) ([]diffStep, [][]uint64) {
	for i := len(states) - 1; i >= 0 && len(states) > 1; i-- {
		if less := states[i : i+1]; differs(t, steps, less) != "" {
			states = less
			break
		}
	}
	for i := len(steps) - 1; i >= 0; i-- {
		if less := slices.Delete(slices.Clone(steps), i, i+1); differs(t, less, states) != "" {
			steps = less
		}
	}
	return steps, states
}

var allForms = sync.OnceValue(forms)

// compareWays fails with the smallest program that differs.
func compareWays(t testing.TB, seed uint64, length int) {
	r := rand.New(rand.NewPCG(seed, 17))
	all := allForms()
	var steps []diffStep
	for range length {
		steps = append(steps, randomStep(r, all[r.IntN(len(all))]))
	}
	states := randomStates(r)
	if differs(t, steps, states) == "" {
		return
	}
	steps, states = shrink(t, steps, states)
	var b strings.Builder
	for _, s := range steps {
		b.WriteString(s.ptx() + "\n")
	}
	for k, v := range states[0] {
		if strings.Contains(b.String(), registerAt(k)) {
			fmt.Fprintf(&b, "%s = %#x\n", registerAt(k), v)
		}
	}
	t.Fatalf("seed %d: %s\n%s", seed, differs(t, steps, states), b.String())
}

// TestStraightLineProgramsAgreeWithTheNaiveEvaluator runs programs from fixed seeds,
// so that every run covers the same instructions.
func TestStraightLineProgramsAgreeWithTheNaiveEvaluator(t *testing.T) {
	programs := 2000
	if testing.Short() {
		programs = 400
	}
	for seed := range uint64(programs) {
		compareWays(t, seed, 40)
	}
}

// TestEveryFormAgreesWithTheNaiveEvaluator runs each form alone, so that none is
// left to chance.
func TestEveryFormAgreesWithTheNaiveEvaluator(t *testing.T) {
	r := rand.New(rand.NewPCG(21, 22))
	all := allForms()
	for _, f := range all {
		s := randomStep(r, f)
		s.guard = -1
		assert.Empty(t, differs(t, []diffStep{s}, randomStates(r)), s.ptx())
	}
}

func FuzzStraightLine(f *testing.F) {
	f.Add(uint64(1), uint8(20))
	f.Fuzz(func(t *testing.T, seed uint64, length uint8) { compareWays(t, seed, int(length%64)+1) })
}
