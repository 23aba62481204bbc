package ptx

import "strconv"

// Limits that a module must not exceed on any GPU of compute capability 5.0 or later, in bytes.
// ptxas applies those of .const, .shared and .param. The 512 KiB of local memory per thread are
// from the table of compute capabilities in the CUDA C++ guide.
const (
	maxConst           = 64 << 10  // .const of a module
	maxStatic          = 48 << 10  // static .shared of a kernel, with the functions it calls
	maxLocal           = 512 << 10 // .local of a thread, with the frames of the functions it calls
	maxParams          = 4352      // .param of a kernel
	maxParamsLarge     = 32764     // the same, from largeParamsVersion and largeParamsTarget on
	largeParamsVersion = 801       // 8.1, as 100*major+minor
	largeParamsTarget  = 70        // sm_70
)

// extents checks that the variables of a module fit into their memories. Call graphs may be
// large and shared, so the frame of each function is computed once.
type extents struct {
	m      *Module
	report func(Pos, string, ...any)
	funcs  map[string]*Func
	frames map[*Func]int64 // bytes of local memory, with the deepest chain of calls; negative while being computed
}

// checkExtents compares the sizes of the module's variables and parameters with
// the constant, static shared, local and parameter memory of every GPU. It
// calls report for each fault.
func checkExtents(m *Module, report func(Pos, string, ...any)) {
	x := &extents{m: m, report: report, funcs: map[string]*Func{}, frames: map[*Func]int64{}}
	for _, f := range m.Funcs {
		x.funcs[f.Name] = f
	}
	x.constants()
	for _, f := range m.Funcs {
		if f.Entry && !f.Extern {
			x.kernel(f)
		}
	}
}

// after returns the end of v if it is placed at the first aligned offset from
// at on. The sum cannot overflow: a variable has at most maxVarBytes.
func after(at int64, v *Var) int64 {
	align := int64(max(v.Align, 1))
	return (at+align-1)&^(align-1) + v.Size()
}

// constants checks the .const variables.
func (x *extents) constants() {
	end := int64(0)
	for _, v := range x.m.Statics() {
		if v.Space != Const {
			continue
		}
		if end = after(end, v); end > maxConst {
			x.report(v.Pos, "the .const variables up to %s take %d bytes: a module has %d", v.Name, end, maxConst)
			return
		}
	}
}

// kernel checks the shared, local and parameter memory of f.
func (x *extents) kernel(f *Func) {
	end, shared := int64(0), x.shared(f)
	for _, v := range shared {
		if end = after(end, v); end > maxStatic {
			x.report(v.Pos, "the .shared variables of kernel %s up to %s take %d bytes: a kernel has %d of static shared memory; declare more as .extern .shared %s[]", f.Name, v.Name, end, maxStatic, v.Name)
			break
		}
	}
	if n := x.frame(f); n > maxLocal {
		x.report(f.Pos, "kernel %s needs %d bytes of local memory per thread, with the functions it calls: a thread has %d", f.Name, n, maxLocal)
	}
	end = 0
	for _, v := range f.Params {
		end = after(end, v)
	}
	if limit := x.m.paramLimit(); end > limit {
		x.report(f.Pos, "the parameters of kernel %s take %d bytes: a kernel of .version %s for %s has %d", f.Name, end, x.m.Version, x.m.Target, limit)
	}
}

// paramLimit returns the bytes of parameters that a kernel of the module may
// have.
func (m *Module) paramLimit() int64 {
	if m.version() >= largeParamsVersion && m.TargetNumber() >= largeParamsTarget {
		return maxParamsLarge
	}
	return maxParams
}

// shared returns the .shared variables of known size that f and its callees
// use, each once.
func (x *extents) shared(f *Func) (list []*Var) {
	seen := map[*Var]bool{}
	add := func(v *Var) {
		// "[]" is dynamic shared memory, whose size the launch sets.
		if v.Space == Shared && !seen[v] && v.Size() > 0 {
			seen[v] = true
			list = append(list, v)
		}
	}
	for _, g := range x.reachable(f) {
		for _, v := range g.Vars {
			add(v)
		}
		eachOperand(g, func(op *Operand) {
			if op.Var != nil {
				add(op.Var)
			}
		})
	}
	return list
}

// reachable returns f and the functions that it refers to, transitively.
func (x *extents) reachable(f *Func) []*Func {
	list, seen := []*Func{f}, map[*Func]bool{f: true}
	for i := 0; i < len(list); i++ {
		x.named(list[i], func(g *Func) {
			if !seen[g] {
				seen[g] = true
				list = append(list, g)
			}
		})
	}
	return list
}

// named calls use for each function that f calls, or whose address it takes.
func (x *extents) named(f *Func, use func(*Func)) {
	eachOperand(f, func(op *Operand) {
		if op.Name != "" && op.Var == nil && (op.Kind == OpFunc || op.Kind == OpSymbol) {
			if g := x.funcs[op.Name]; g != nil {
				use(g)
			}
		}
	})
	for _, proto := range f.Protos {
		for _, name := range proto.Targets {
			if g := x.funcs[name]; g != nil {
				use(g)
			}
		}
	}
}

// frame returns the local memory of a call of f, in bytes: its own variables and the deepest
// chain of calls below it.
//
//	frame(f) = own(f) + max over the functions g that f refers to: frame(g)
//
// A function that calls itself counts once, since the depth of a recursion is known only at run
// time.
func (x *extents) frame(f *Func) int64 {
	if n, ok := x.frames[f]; ok {
		return max(n, 0)
	}
	// Marks f as being computed: a recursive call below finds -1 and counts 0.
	x.frames[f] = -1
	own, deepest := int64(0), int64(0)
	lists := [][]*Var{f.Vars}
	if !f.Entry {
		lists = append(lists, f.Params, f.Return)
	}
	for _, list := range lists {
		for _, v := range list {
			if v.Space == Local || v.Space == ParamSpace {
				own = after(own, v)
			}
		}
	}
	x.named(f, func(g *Func) { deepest = max(deepest, x.frame(g)) })
	x.frames[f] = min(own+deepest, 1<<61) // a sum over a million functions must not overflow
	return x.frames[f]
}

// eachOperand calls use for each operand in the body of f, nested ones
// included.
func eachOperand(f *Func, use func(*Operand)) {
	var visit func(list []Operand)
	visit = func(list []Operand) {
		for i := range list {
			use(&list[i])
			visit(list[i].Elems)
		}
	}
	for i := range f.Body {
		visit(f.Body[i].Args)
	}
}

// version returns the PTX version as a number, 708 for 7.8, or 0 if it is
// malformed.
func (m *Module) version() int {
	for i, c := range m.Version {
		if c != '.' {
			continue
		}
		major, err := strconv.Atoi(m.Version[:i])
		minor, minorErr := strconv.Atoi(m.Version[i+1:])
		if err != nil || minorErr != nil {
			return 0
		}
		return 100*major + minor
	}
	return 0
}

// TargetNumber returns the number of the module's target, 90 for sm_90a, or 0.
func (m *Module) TargetNumber() (n int) {
	for _, c := range m.Target {
		if c >= '0' && c <= '9' && n < 1000 {
			n = 10*n + int(c-'0')
		}
	}
	return n
}
