package interp

import (
	"bytes"
	"fmt"
	"math/bits"
	"unsafe"

	"github.com/reprise-gpu/reprise/ptx"
)

// Calls are inlined: nvcc calls few functions, from few places, and an inlined
// body needs no call stack per lane. Parameters are variables in local memory:
// a formal parameter is another name of the actual one. Recursion and calls
// through pointers are not supported.

func (l *lowering) call() error {
	in := l.in
	results, callee, args, err := l.callOperands()
	if err != nil {
		return err
	}
	if in.Guard.Reg != ptx.NoReg {
		return l.fail("guarded calls are not supported")
	}
	f := l.mod.function(callee)
	switch {
	case callee == "__assertfail":
		return l.assertFail(args)
	case callee == "vprintf":
		return l.printf(results)
	case f == nil || f.Extern:
		return l.fail("function %s has no body in this module", callee)
	}
	for fr := l.frame; fr != nil; fr = fr.parent {
		if fr.fn == f {
			return l.fail("function %s is recursive, which the interpreter does not support", callee)
		}
	}
	if len(results) != len(f.Return) || len(args) != len(f.Params) {
		return l.fail("function %s has %d results and %d parameters", callee, len(f.Return), len(f.Params))
	}
	l.emit(blank(), costBranch).free = true
	return l.inline(f, results, args)
}

// callOperands takes a call apart: (results), callee, (args), prototype.
func (l *lowering) callOperands() (results []ptx.Operand, callee string, args []ptx.Operand, err error) {
	ops := l.in.Args
	if len(ops) > 0 && ops[0].Kind == ptx.OpList {
		results, ops = ops[0].Elems, ops[1:]
	}
	if len(ops) == 0 || ops[0].Kind != ptx.OpFunc {
		return nil, "", nil, l.fail("indirect calls are not supported")
	}
	callee, ops = ops[0].Name, ops[1:]
	if len(ops) > 0 && ops[0].Kind == ptx.OpList {
		args = ops[0].Elems
	}
	return results, callee, args, nil
}

// inline lowers the body of f in place of the call.
func (l *lowering) inline(f *ptx.Func, results, args []ptx.Operand) error {
	caller, call := l.frame, l.in
	locals := map[*ptx.Var]int{}
	formals := append(append([]*ptx.Var(nil), f.Return...), f.Params...)
	actuals := append(append([]ptx.Operand(nil), results...), args...)
	for i, formal := range formals {
		off, ok := caller.locals[actuals[i].Var]
		if actuals[i].Kind != ptx.OpSymbol || !ok || formal.Space == ptx.RegSpace {
			return l.fail("parameter %d of %s is no .param variable", i, f.Name)
		}
		locals[formal] = off
	}
	err := l.body(l.enter(f, locals))
	l.frame, l.in = caller, call
	return err
}

// assertFail ends the launch with the program's message: its arguments are
// message, file, line and function.
func (l *lowering) assertFail(args []ptx.Operand) error {
	var offs [4]int
	for i := range offs {
		if i >= len(args) || args[i].Kind != ptx.OpSymbol {
			return l.fail("__assertfail needs a message, a file, a line and a function")
		}
		offs[i] = l.frame.locals[args[i].Var]
	}
	r := blank()
	r.exec = func(w *warp, in *inst) {
		lane := firstLane(w.live)
		cell := func(off, size int) uint64 {
			return readCell(unsafe.Add(w.local, lane*w.kernel.localSize+off), size)
		}
		w.fail(Assert, in, lane, 0, fmt.Sprintf("%s, %s:%d, %s", w.text(cell(offs[0], 8)),
			w.text(cell(offs[1], 8)), cell(offs[2], 4), w.text(cell(offs[3], 8))))
	}
	l.emit(r, costALU)
	return nil
}

// text is the C string at a generic address.
func (w *warp) text(addr uint64) string {
	a := w.eng.mem.find(addr, 1)
	if a == nil {
		return "?"
	}
	s := a.bytes()[addr-a.base:]
	if n := bytes.IndexByte(s, 0); n >= 0 {
		s = s[:n]
	}
	return string(s)
}

// printf swallows output and reports success: there is no place to print to.
func (l *lowering) printf(results []ptx.Operand) error {
	if len(results) != 1 || results[0].Kind != ptx.OpSymbol {
		return l.fail("vprintf needs a result")
	}
	off := l.frame.locals[results[0].Var]
	r := blank()
	r.exec = func(w *warp, _ *inst) {
		each(w.live, func(i int) { writeCell(unsafe.Add(w.local, i*w.kernel.localSize+off), 4, 0) })
	}
	l.emit(r, costALU)
	return nil
}

func firstLane(mask uint32) int { return bits.TrailingZeros32(mask) & 31 }
