package ptx

// incomplete reports whether v is an array whose first extent is left out.
func (v *Var) incomplete() bool { return len(v.Dims) > 0 && v.Dims[0] == 0 }

// checkVar applies the rules for variables that are no parameters, as ptxas does.
func (p *parser) checkVar(v *Var) {
	switch {
	case v.Type == Pred:
		p.report(v.Pos, "%s is .pred, which only registers are", v.Name)
	case v.Init != nil && v.Space != Global && v.Space != Const:
		p.report(v.Pos, "%s has an initial value, which only .global and .const variables can have", v.Name)
	case v.Init != nil && v.Extern:
		p.report(v.Pos, "%s is .extern and has an initial value", v.Name)
	case v.incomplete() && !v.Extern:
		p.report(v.Pos, "%s has no extent: give one, or an initial value, or declare it .extern", v.Name)
	}
}

// checkVector compares a vector type with the 128 bits that one has at most, 256 since
// PTX 8.8.
func (p *parser) checkVector(pos Pos, typ Type, elements int) {
	most := 16
	if p.m.version() >= 808 {
		most = 32
	}
	if typ.Size()*elements > most {
		p.fail(pos, ".v%d .%s has %d bits; a vector has %d at most", elements, typ, 8*typ.Size()*elements, 8*most)
	}
}

// checkParams applies the rules for the parameters of kernels and functions.
func (p *parser) checkParams(f *Func) {
	for _, v := range f.Return {
		if v.incomplete() {
			p.report(v.Pos, "result %s has no extent", v.Name)
		}
	}
	for _, v := range f.Params {
		switch {
		case v.Type == Pred && v.Space == ParamSpace:
			p.report(v.Pos, "%s is .pred, which only registers are", v.Name)
		case f.Entry && v.Space == RegSpace:
			p.report(v.Pos, "parameter %s of kernel %s is a register; declare it .param", v.Name, f.Name)
		case f.Entry && v.incomplete():
			p.report(v.Pos, "parameter %s of kernel %s has no extent", v.Name, f.Name)
		}
	}
}
