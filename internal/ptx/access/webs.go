package access

import (
	"slices"

	"github.com/reprise-gpu/reprise/internal/ptx"
)

// Programmers use a register again when its value is no longer needed:
//
//	mul.wide.s32 %rd4, %r1, 4       %rd4 is a number
//	add.s64 %rd4, %rd3, %rd4        from here on it is an address
//
// Inference has one set of roots for each register. separate first divides registers that hold several values in turn. A
// web is the definitions that reach common uses, with these uses (Muchnick, "Advanced Compiler Design and Implementation",
// 1997, section 16.3.3). Each web but that of the function's entry gets a number behind those of the registers.

// A definition reaches an instruction along each path without another definition of the register. Only plain results
// of unguarded instructions count as definitions. All else that names the register, such as a guarded result, belongs to
// the web that reaches it, so a mistake about an instruction can only join webs.
var defining = map[string]bool{
	"add": true, "sub": true, "mul": true, "mad": true, "mul24": true, "mad24": true, "div": true, "rem": true, "abs": true, "neg": true,
	"min": true, "max": true, "and": true, "or": true, "xor": true, "not": true, "shl": true, "shr": true, "selp": true,
	"mov": true, "cvt": true, "cvta": true, "ld": true,
}

// maxWebSteps bounds the search for webs in a function, as a multiple of its length. Registers beyond it stay as they are.
const maxWebSteps = 256

// webs is the search in one function.
type webs struct {
	f     *ptx.Func
	found *values
	next  [][]int32 // by instruction: where it may continue
	steps int       // that are left

	// Of the register that is divided:
	r    ptx.RegID
	role []role  // by instruction
	at   []int   // by instruction that uses the register: a web that reaches it, plus 1
	seen []int32 // by instruction: the last search that has visited it
	last int32   // search
}

// role is what an instruction does with the register that is divided.
type role struct{ uses, defines bool }

// values are the numbers of the values that registers hold.
type values struct {
	n  int                 // of values; a register that is not divided has its own number
	of map[place]ptx.RegID // of other operands
}

// place is an operand of an instruction. Instructions of rewritten code may share operands.
type place struct {
	in *ptx.Inst
	op *ptx.Operand
}

// value returns the number of the value that an operand, which has a register, reads or sets.
func (v *values) value(in *ptx.Inst, op *ptx.Operand) ptx.RegID {
	if n, other := v.of[place{in, op}]; other {
		return n
	}
	return op.Reg
}

// separate returns the values of the registers of a function.
func separate(f *ptx.Func) *values {
	n := len(f.Body)
	w := &webs{f: f, found: &values{len(f.Regs), map[place]ptx.RegID{}}, steps: maxWebSteps * n, role: make([]role, n), at: make([]int, n), seen: make([]int32, n)}
	w.flow()
	named := make([][]int32, len(f.Regs)) // by register: the instructions that name it
	defs := make([]int, len(f.Regs))      // by register: their number
	for i := range f.Body {
		in := &f.Body[i]
		if r := defined(in); r != ptx.NoReg {
			defs[r]++
		}
		for k := range in.Args {
			eachReg(&in.Args[k], func(op *ptx.Operand) {
				if list := named[op.Reg]; len(list) == 0 || list[len(list)-1] != int32(i) {
					named[op.Reg] = append(list, int32(i))
				}
			})
		}
	}
	for r := range defs {
		if defs[r] > 1 && f.Regs[r].Type != ptx.Pred && !passed(f, f.Regs[r].Name) {
			w.divide(ptx.RegID(r), named[r])
		}
	}
	return w.found
}

// passed reports whether a register is a parameter or a result of the function, which callers set or read.
func passed(f *ptx.Func, name string) bool {
	is := func(v *ptx.Var) bool { return v.Name == name }
	return slices.ContainsFunc(f.Params, is) || slices.ContainsFunc(f.Return, is)
}

// defined returns the register whose value an instruction replaces, or NoReg.
func defined(in *ptx.Inst) ptx.RegID {
	if in.Guard.Reg != ptx.NoReg || !defining[in.Name] || len(in.Args) < 2 || in.Args[0].Kind != ptx.OpReg || in.Args[0].Name != "" {
		return ptx.NoReg
	}
	return in.Args[0].Reg
}

// flow finds where instructions continue.
func (w *webs) flow() {
	w.next = make([][]int32, len(w.f.Body))
	for i := range w.f.Body {
		in, next := &w.f.Body[i], []int32(nil)
		if !leaves(in) || in.Guard.Reg != ptx.NoReg {
			next = append(next, int32(i+1))
		}
		switch in.Name {
		case "bra":
			next = append(next, int32(in.Args[0].Target))
		case "brx":
			for n := range in.Args {
				for k := range in.Args[n].Elems {
					next = append(next, int32(in.Args[n].Elems[k].Target))
				}
			}
		}
		w.next[i] = next
	}
}

// leaves reports whether no thread that executes an instruction continues behind it.
func leaves(in *ptx.Inst) bool {
	switch in.Name {
	case "bra", "brx", "ret", "exit", "trap":
		return true
	}
	return false
}

// divide divides a register by its webs. named are the instructions that name it. Web 0 is that of the function's entry, where
// the register has no value; web d+1 begins with definition d.
func (w *webs) divide(r ptx.RegID, named []int32) {
	defs := w.roles(r, named)
	joined := make([]int, len(defs)+1)
	for d := range joined {
		joined[d] = d
	}
	find := func(d int) int {
		for joined[d] != d {
			d = joined[d]
		}
		return d
	}
	within := true
	for d := range joined {
		from := int32(0)
		if d > 0 {
			from = defs[d-1] + 1
		}
		within = within && w.follow(from, func(i int32) {
			if w.at[i] > 0 {
				joined[find(d)] = find(w.at[i] - 1)
			}
			w.at[i] = d + 1
		})
	}
	if within {
		w.number(named, defs, find)
	}
	for _, i := range named {
		w.role[i], w.at[i] = role{}, 0
	}
}

// roles notes what instructions do with the register, and returns those that define it.
func (w *webs) roles(r ptx.RegID, named []int32) (defs []int32) {
	w.r = r
	for _, i := range named {
		in := &w.f.Body[i]
		args := in.Args
		if defined(in) == r {
			defs, args = append(defs, i), args[1:]
			w.role[i].defines = true
		}
		for n := range args {
			eachReg(&args[n], func(op *ptx.Operand) { w.role[i].uses = w.role[i].uses || op.Reg == r })
		}
	}
	return defs
}

// follow calls use for each instruction that uses the value which the register has in front of instruction from. It returns
// false if no steps are left.
func (w *webs) follow(from int32, use func(int32)) bool {
	w.last++
	stack := []int32{from}
	for len(stack) > 0 {
		i := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		for int(i) < len(w.seen) && w.seen[i] != w.last {
			if w.steps--; w.steps < 0 {
				return false
			}
			w.seen[i] = w.last
			if w.role[i].uses {
				use(i)
			}
			if w.role[i].defines {
				break
			}
			next := w.next[i]
			if len(next) == 0 {
				break
			}
			stack = append(stack, next[1:]...)
			i = next[0]
		}
	}
	return true
}

// number gives the webs numbers of their own. An instruction that no value reaches is never run and keeps the register's.
func (w *webs) number(named, defs []int32, find func(int) int) {
	numbers := map[int]ptx.RegID{find(0): w.r}
	give := func(in *ptx.Inst, args []ptx.Operand, web int) {
		web = find(web)
		if _, known := numbers[web]; !known {
			numbers[web] = ptx.RegID(w.found.n)
			w.found.n++
		}
		for n := range args {
			eachReg(&args[n], func(op *ptx.Operand) {
				if op.Reg == w.r && numbers[web] != w.r {
					w.found.of[place{in, op}] = numbers[web]
				}
			})
		}
	}
	for _, i := range named {
		in := &w.f.Body[i]
		args := in.Args
		if w.role[i].defines {
			d, _ := slices.BinarySearch(defs, i)
			give(in, args[:1], d+1)
			args = args[1:]
		}
		if w.at[i] > 0 {
			give(in, args, w.at[i]-1)
		}
	}
}

// eachReg calls f with the operands in an operand that name a register, but for predicates beside others.
func eachReg(op *ptx.Operand, f func(*ptx.Operand)) {
	if op.Reg != ptx.NoReg {
		f(op)
	}
	for n := range op.Elems {
		eachReg(&op.Elems[n], f)
	}
}
