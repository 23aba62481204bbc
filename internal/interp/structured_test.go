package interp

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A random structured program works on x and on fuel, which bounds it. Every
// statement is written as PTX and also executed, for one thread at a time, by
// the tree itself: no warp, no stack of masks.
type structured struct {
	r     *rand.Rand
	funcs []*block // funcs[0] is the kernel's body
	text  strings.Builder
	label int
}

// thread is what one thread has.
type thread struct {
	x, fuel uint32
	p       *structured
}

// leaving says how a statement ended.
type leaving uint8

const (
	goesOn leaving = iota
	breaks
	goesRound
	ends
)

type statement interface {
	run(t *thread) leaving
	write(p *structured, loop string)
}

type (
	block  []statement
	assign struct{ mul, add uint32 } // x = x*mul + add
	fork   struct {
		bit      uint32
		yes, no  block
		inverted bool // written with the branch the other way round
	}
	loop struct {
		bit  uint32 // the loop ends when it is not set
		body block
	}
	selection struct { // a switch whose cases fall through
		shift uint32
		cases [4]block
	}
	leave struct { // break, continue or return where x%modulus == 0
		modulus uint32
		how     leaving
	}
	invoke struct {
		callee  int
		pointer bool
	}
)

func (b block) run(t *thread) leaving {
	for _, s := range b {
		if o := s.run(t); o != goesOn {
			return o
		}
	}
	return goesOn
}

func (s assign) run(t *thread) leaving {
	t.x = t.x*s.mul + s.add
	return goesOn
}

func (s fork) run(t *thread) leaving {
	if t.x>>s.bit&1 != 0 {
		return s.yes.run(t)
	}
	return s.no.run(t)
}

func (s loop) run(t *thread) leaving {
	for {
		if t.fuel == 0 {
			return ends
		}
		t.fuel--
		if t.x>>s.bit&1 == 0 {
			return goesOn
		}
		switch s.body.run(t) {
		case breaks:
			return goesOn
		case ends:
			return ends
		}
		t.x++
	}
}

func (s selection) run(t *thread) leaving {
	for i := t.x >> s.shift & 3; i < 4; i++ {
		if o := s.cases[i].run(t); o != goesOn {
			return o
		}
		if i == 1 {
			break
		}
	}
	return goesOn
}

func (s leave) run(t *thread) leaving {
	if t.x%s.modulus == 0 {
		return s.how
	}
	return goesOn
}

func (s invoke) run(t *thread) leaving {
	if t.fuel > 0 {
		t.fuel--
		t.p.funcs[s.callee].run(t)
	}
	return goesOn
}

func (p *structured) fresh() string {
	p.label++
	return fmt.Sprintf("L%d", p.label)
}

func (p *structured) f(format string, args ...any) { fmt.Fprintf(&p.text, format+"\n", args...) }

func (p *structured) testBit(bit uint32) {
	p.f("shr.u32 %%t, %%x, %d; and.b32 %%t, %%t, 1; setp.ne.u32 %%p, %%t, 0;", bit)
}

func (b block) write(p *structured, loop string) {
	for _, s := range b {
		s.write(p, loop)
	}
}

func (s assign) write(p *structured, _ string) {
	p.f("mad.lo.u32 %%x, %%x, %d, %d;", s.mul, s.add)
}

func (s fork) write(p *structured, loop string) {
	other, end := p.fresh(), p.fresh()
	p.testBit(s.bit)
	first, second, not := s.yes, s.no, "!"
	if s.inverted {
		first, second, not = s.no, s.yes, ""
	}
	p.f("@%s%%p bra %s;", not, other)
	first.write(p, loop)
	p.f("bra %s;\n%s:", end, other)
	second.write(p, loop)
	p.f("%s:", end)
}

func (s loop) write(p *structured, _ string) {
	name := p.fresh()
	p.f("%s_head:\nsetp.eq.u32 %%p, %%fuel, 0;\n@%%p bra OUT;\nsub.u32 %%fuel, %%fuel, 1;", name)
	p.testBit(s.bit)
	p.f("@!%%p bra %s_end;", name)
	s.body.write(p, name)
	p.f("%s_round:\nadd.u32 %%x, %%x, 1;\nbra %s_head;\n%s_end:", name, name, name)
}

func (s selection) write(p *structured, loop string) {
	name := p.fresh()
	p.f("shr.u32 %%t, %%x, %d; and.b32 %%t, %%t, 3;", s.shift)
	p.f("%s: .branchtargets %s_0, %s_1, %s_2, %s_3;\nbrx.idx %%t, %s;", name, name, name, name, name, name)
	for i, b := range s.cases {
		p.f("%s_%d:", name, i)
		b.write(p, loop)
		if i == 1 {
			p.f("bra %s_end;", name)
		}
	}
	p.f("%s_end:", name)
}

func (s leave) write(p *structured, loop string) {
	p.f("rem.u32 %%t, %%x, %d; setp.eq.u32 %%p, %%t, 0;", s.modulus)
	switch s.how {
	case breaks:
		p.f("@%%p bra %s_end;", loop)
	case goesRound:
		p.f("@%%p bra %s_round;", loop)
	case ends:
		p.f("@%%p bra OUT;")
	}
}

func (s invoke) write(p *structured, _ string) {
	skip := p.fresh()
	p.f("setp.eq.u32 %%p, %%fuel, 0;\n@%%p bra %s;\nsub.u32 %%fuel, %%fuel, 1;", skip)
	p.f("{ .param .align 4 .b8 a[8]; .param .align 4 .b8 r[8]; st.param.b32 [a], %%x; st.param.b32 [a+4], %%fuel;")
	if s.pointer {
		p.f("mov.u64 %%fn, f%d; proto: .callprototype (.param .align 4 .b8 _[8]) _ (.param .align 4 .b8 _[8]);\ncall (r), %%fn, (a), proto;", s.callee)
	} else {
		p.f("call.uni (r), f%d, (a);", s.callee)
	}
	p.f("ld.param.b32 %%x, [r]; ld.param.b32 %%fuel, [r+4]; }\n%s:", skip)
}

// statements makes a block.
func (p *structured) statements(depth int, inLoop bool) (b block) {
	r := p.r
	for range 1 + r.IntN(3) {
		b = append(b, assign{r.Uint32() | 1, r.Uint32()})
		switch kind := r.IntN(9); {
		case kind < 3 && depth > 0:
			b = append(b, fork{r.Uint32N(32), p.statements(depth-1, inLoop), p.statements(depth-1, inLoop), r.IntN(2) == 0})
		case kind < 5 && depth > 0:
			b = append(b, loop{r.Uint32N(32), p.statements(depth-1, true)})
		case kind == 5 && depth > 0:
			s := selection{shift: r.Uint32N(31)}
			for i := range s.cases {
				s.cases[i] = p.statements(depth-2, inLoop)
			}
			b = append(b, s)
		case kind == 6:
			how := ends
			if inLoop {
				how = breaks + leaving(r.IntN(3))
			}
			b = append(b, leave{2 + r.Uint32N(6), how})
		case kind == 7 && len(p.funcs) > 1:
			b = append(b, invoke{1 + r.IntN(len(p.funcs)-1), r.IntN(3) == 0})
		}
	}
	return b
}

// newStructured makes a program whose functions may call each other and themselves.
func newStructured(r *rand.Rand) *structured {
	p := &structured{r: r, funcs: make([]*block, 1+r.IntN(4))}
	for i := range p.funcs {
		b := p.statements(3, false)
		p.funcs[i] = &b
	}
	return p
}

func (p *structured) source() string {
	const registers = ".reg .b32 %x, %fuel, %t; .reg .b64 %fn, %a, %i; .reg .pred %p;"
	const signature = ".func (.param .align 4 .b8 out[8]) f%d(.param .align 4 .b8 in[8])"
	p.f(".version 7.8\n.target sm_75\n.address_size 64")
	for i := range p.funcs[1:] {
		p.f(signature+";", i+1)
	}
	for i, body := range p.funcs[1:] {
		p.f(signature+"\n{\n%s\nld.param.b32 %%x, [in]; ld.param.b32 %%fuel, [in+4];", i+1, registers)
		body.write(p, "")
		p.f("OUT:\nst.param.b32 [out], %%x; st.param.b32 [out+4], %%fuel; ret;\n}")
	}
	p.f(".visible .entry main(.param .u64 data)\n{\n%s\nld.param.u64 %%a, [data]; mov.u32 %%t, %%tid.x; mul.wide.u32 %%i, %%t, 4; add.s64 %%a, %%a, %%i;", registers)
	p.f("ld.global.u32 %%x, [%%a]; mov.u32 %%fuel, 40;")
	p.funcs[0].write(p, "")
	p.f("OUT:\nst.global.u32 [%%a], %%x; ret;\n}")
	return p.text.String()
}

// TestStructuredProgramsAgreeWithSingleThreads runs random programs by warps and
// by single threads.
func TestStructuredProgramsAgreeWithSingleThreads(t *testing.T) {
	rounds := 600
	if testing.Short() {
		rounds = 150
	}
	for seed := range uint64(rounds) {
		checkStructured(t, seed)
	}
}

func FuzzStructured(f *testing.F) {
	f.Add(uint64(1))
	f.Fuzz(func(t *testing.T, seed uint64) { checkStructured(t, seed) })
}

func checkStructured(t *testing.T, seed uint64) {
	r := rand.New(rand.NewPCG(seed, 7))
	p := newStructured(r)
	src := p.source()
	x := make([]uint32, 1+r.IntN(40))
	for i := range x {
		x[i] = r.Uint32()
	}
	d := open(t, "main.ptx", src)
	k := d.kernel("main")
	k.spinLimit = int32(seed % 4) // 1 to 3: fragments split all the time, as lanes that spin do
	data := buffer(d, "data", x)
	_, f := k.Run(d.mem, Launch{Grid: dims(1, 1, 1), Block: dims(uint32(len(x)), 1, 1), Params: params(data)})
	if f != nil {
		require.NoError(t, f, "seed %d\n%s", seed, src)
	}
	for i, got := range contents[uint32](d, data) {
		one := &thread{x[i], 40, p}
		p.funcs[0].run(one)
		require.Equal(t, one.x, got, "seed %d, thread %d\n%s", seed, i, src)
	}
}
