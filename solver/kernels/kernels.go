// Package kernels holds the GPU kernels of package solver, as PTX in both precisions: products with
// sparse matrices (spmv), operations on vectors with the first stage of their sums (vector), what
// becomes of these sums (scalar), the steps of GMRES (gmres), those of power iterations (eigen) and of equations
// of evolution (time), and operations of methods of one's own (kept). The sources say what each kernel computes and how it is
// launched; make ptx compiles them.
package kernels

import (
	"embed"
	"fmt"

	"github.com/reprise-gpu/reprise/ir"
)

//go:embed *.ptx
var files embed.FS

// Modules lists the names that Source takes.
func Modules() []string {
	return []string{"spmv", "vector", "scalar", "gmres", "eigen", "time", "kept"}
}

// Source is a module's file name and PTX text, for elements of type ir.F64 or ir.F32.
func Source(name string, elem ir.Type) (file, ptx string) {
	switch elem {
	case ir.F64:
		file = name + ".ptx"
	case ir.F32:
		file = name + ".f32.ptx"
	default:
		panic(fmt.Sprintf("BUG: kernels of %v", elem))
	}
	text, err := files.ReadFile(file)
	if err != nil {
		panic("BUG: " + err.Error())
	}
	return file, string(text)
}
