package kernels

import (
	"slices"

	"github.com/reprise-gpu/reprise/ir"
)

// Kernel is one compiled kernel.
type Kernel struct {
	Name   string  // the entry point, "square"
	File   string  // the PTX file, "square.ptx"
	PTX    string  // its text
	Params []Param // in order
}

// Param is one parameter of a kernel, as the source declares it. Mode records
// what the kernel does with the elements behind a pointer; it is there for tests
// to hold against what ptx infers, and no trace needs it.
type Param struct {
	Name    string
	Type    ir.Type // of a scalar, or of the elements behind a pointer
	Pointer bool
	Mode    ir.Mode // counts for pointers only
}

// table lists the kernels in the order the benchmarks launch them, a line for each
// benchmark, and one for those that share layers.
var table = []*Kernel{
	square, reduce,
	bs,
	gaussianBlur, sobel, maximum, minimum, extend, unsharpen, combine,
	rr1, nb1, rr2, nb2, nb3, rr3, nb4, softmax, argmax,
	spmv3, sum, divide,
	conv2D, meanPooling, concat, dotProduct,
	gemm128x64, gemm64x64, gemmThin, gemmPlain, im2col, biasClamp, biasAdd, depthwise, maxPooling, planeMean, softmaxColumns,
}

// All returns every kernel, in a fixed order.
func All() []*Kernel { return slices.Clone(table) }

// Lookup returns the kernel of that name.
func Lookup(name string) (*Kernel, bool) {
	for _, k := range table {
		if k.Name == name {
			return k, true
		}
	}
	return nil, false
}

func pointer(name string, mode ir.Mode) Param { return pointerTo(ir.F32, name, mode) }

func pointerTo(elem ir.Type, name string, mode ir.Mode) Param {
	return Param{Name: name, Type: elem, Pointer: true, Mode: mode}
}

func scalar(name string, t ir.Type) Param { return Param{Name: name, Type: t} }
