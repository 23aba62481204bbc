// Package kernels holds the GPU kernels of package solver, as PTX in both precisions: products with sparse matrices
// (spmv), operations on vectors with the first stage of their sums (vector), operations on these sums (scalar), the
// steps of GMRES (gmres), of power iterations (eigen) and of time stepping (time), and operations of user-defined
// methods (kept). The sources state what each kernel computes and how it is launched; make ptx compiles them. A name with
// ".parts" is the build for launches that several devices share.
package kernels

import (
	"embed"
	"fmt"

	"github.com/reprise-gpu/reprise/ir"
)

//go:embed *.ptx
var files embed.FS

// Modules lists the names for Source.
func Modules() []string {
	return []string{
		"spmv", "vector", "scalar", "gmres", "eigen", "time", "kept",
		"spmv.parts", "vector.parts", "eigen.parts", "time.parts", "kept.parts",
	}
}

// Source returns a module's file name and PTX text, for elements of type ir.F64 or ir.F32.
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
