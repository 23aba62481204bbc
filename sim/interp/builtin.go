package interp

import (
	"bytes"
	"fmt"
	"math/bits"
	"unsafe"

	"github.com/reprise-gpu/reprise/ptx"
)

// builtins are the functions that a driver provides.
var builtins map[string]func(l *lowering, results, args []ptx.Operand) error

func init() {
	builtins = map[string]func(l *lowering, results, args []ptx.Operand) error{
		"__assertfail": (*lowering).assertFail, "vprintf": (*lowering).printf,
	}
}

// builtin emits a call that the host answers: per lane, in ascending order,
// f gets the arguments and gives the result.
func (l *lowering) builtin(results, args []ptx.Operand, nres, nargs int, c cost, f func(w *warp, in *inst, lane int, args []uint64) uint64) error {
	if len(results) != nres || len(args) < nargs {
		return l.fail("needs %d results and %d parameters", nres, nargs)
	}
	p, err := l.pass(results, args[:nargs], func(int) ptx.Type { return ptx.B64 })
	if err != nil {
		return err
	}
	r := blank()
	r.a, _ = l.local(0) // the frame, in a routine
	framed := l.root != nil
	r.exec = func(w *warp, in *inst) {
		var list [5]uint64
		each(w.live, func(lane int) {
			if w.fault != nil {
				return
			}
			frame := uint64(0)
			if framed {
				frame = view[uint64](w, in.a)[lane]
			}
			for i, a := range p.args {
				list[i] = readCell(unsafe.Pointer(&w.localBytes(lane, frame, a)[0]), a.size)
			}
			v := f(w, in, lane, list[:len(p.args)])
			for _, a := range p.results {
				writeCell(unsafe.Pointer(&w.localBytes(lane, frame, a)[0]), a.size, v)
			}
		})
	}
	l.emit(r, c)
	l.receive(&p)
	return nil
}

// assertFail ends the launch with the program's message: its arguments are
// message, file, line and function.
func (l *lowering) assertFail(results, args []ptx.Operand) error {
	return l.builtin(results, args, 0, 4, costALU, func(w *warp, in *inst, lane int, a []uint64) uint64 {
		w.fail(Assert, in, lane, 0, fmt.Sprintf("%s, %s:%d, %s", w.text(a[0]), w.text(a[1]), uint32(a[2]), w.text(a[3])))
		return 0
	})
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
func (l *lowering) printf(results, args []ptx.Operand) error {
	return l.builtin(results, args, 1, 2, costALU, func(*warp, *inst, int, []uint64) uint64 { return 0 })
}

func firstLane(mask uint32) int { return bits.TrailingZeros32(mask) & 31 }
