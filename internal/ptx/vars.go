package ptx

import "slices"

// incomplete reports whether v is an array without its first extent.
func (v *Var) incomplete() bool { return len(v.Dims) > 0 && v.Dims[0] == 0 }

// checkVar applies the rules of ptxas for variables other than parameters. A variable that
// breaks several is reported for the first one.
func (p *parser) checkVar(v *Var) {
	switch {
	case v.Type == Pred:
		p.report(v.Pos, "%s is .pred: only registers can be", v.Name)
	case v.Type.alternative():
		p.report(v.Pos, "%s is .%s, a type of instructions only: declare it as bits", v.Name, v.Type)
	case v.Type.half() && v.Init != nil:
		p.report(v.Pos, "%s is .%s, which cannot have an initial value: declare it as bits", v.Name, v.Type)
	case v.Handle != "" && v.Space != Global:
		p.report(v.Pos, "%s is a .%s, which must be .global", v.Name, v.Handle)
	case v.Link == Common && v.Space != Global:
		p.report(v.Pos, "%s is .common: only .global variables can be", v.Name)
	case v.Init != nil && v.Space != Global && v.Space != Const:
		p.report(v.Pos, "%s has an initial value: only .global and .const variables can have one", v.Name)
	case v.Init != nil && v.Extern:
		p.report(v.Pos, "%s is .extern and has an initial value", v.Name)
	case v.incomplete() && !v.Extern:
		p.report(v.Pos, "%s has no extent: give one, or an initial value, or declare it .extern", v.Name)
	}
}

// checkVector bounds the size of a vector type: 128 bits, or 256 since PTX 8.8.
func (p *parser) checkVector(pos Pos, typ Type, elements int) {
	maxBytes := 16
	if p.m.version() >= 808 {
		maxBytes = 32
	}
	if typ.Size()*elements > maxBytes {
		p.fail(pos, ".v%d .%s has %d bits; a vector has %d at most", elements, typ, 8*typ.Size()*elements, 8*maxBytes)
	}
}

// checkParams applies the rules for the parameters of kernels and functions.
func (p *parser) checkParams(f *Func) {
	for _, v := range f.Return {
		switch {
		case f.Entry:
			p.report(v.Pos, "kernel %s cannot return %s: only a .func has results", f.Name, v.Name)
		case v.incomplete():
			p.report(v.Pos, "result %s has no extent", v.Name)
		case v.Space == ParamSpace && len(f.Return) > 1:
			p.report(v.Pos, "%s is one of several results: these must be registers", v.Name)
		}
		p.checkParam(f, v)
	}
	for _, v := range f.Params {
		switch {
		case f.Entry && v.Space == RegSpace:
			p.report(v.Pos, "parameter %s of kernel %s is a register: declare it .param", v.Name, f.Name)
		case f.Entry && v.incomplete():
			p.report(v.Pos, "parameter %s of kernel %s has no extent", v.Name, f.Name)
		case !f.Entry && v.Ptr.Present:
			p.report(v.Pos, "parameter %s of function %s has .ptr: only parameters of kernels can have it", v.Name, f.Name)
		}
		p.checkParam(f, v)
	}
}

// checkParam applies the rules that are common to parameters and results.
func (p *parser) checkParam(f *Func, v *Var) {
	switch {
	case v.Name == "_" && !f.Entry:
		p.report(v.Pos, "a parameter of %s has the name _: only prototypes of calls allow it", f.Name)
	case v.Type == Pred && v.Space == ParamSpace:
		p.report(v.Pos, "%s is .pred: only registers can be", v.Name)
	// ptxas accepts an array of vectors, but not a single one.
	case v.Space == ParamSpace && (v.Type == F16X2 || v.vector > 0 && !v.array()):
		p.report(v.Pos, "%s cannot be a parameter of type .%s: declare it as an array of bits", v.Name, v.TypeString())
	case v.Space == RegSpace && len(v.Dims) > v.vector:
		p.report(v.Pos, "%s is an array: a register cannot be", v.Name)
	}
}

// sameSignature reports whether two declarations of a function agree in number, space, size and
// extents of their parameters and results. Types of equal size count as equal, as in ptxas.
func sameSignature(a, b *Func) bool {
	// Names and alignments may differ.
	same := func(v, w *Var) bool {
		return v.Space == w.Space && v.Type.Size() == w.Type.Size() && slices.Equal(v.Dims, w.Dims)
	}
	return a.Entry == b.Entry && slices.EqualFunc(a.Params, b.Params, same) && slices.EqualFunc(a.Return, b.Return, same)
}
