package rewrite

import (
	"slices"
	"strings"

	"github.com/reprise-gpu/reprise/internal/ptx"
	"github.com/reprise-gpu/reprise/internal/ptx/access"
)

// runtime are the functions that the driver provides and that a rewritten kernel may call.
// Those with the value true have effects between threads outside memory: the output of instances
// would be mixed, and they would compete for the device heap.
var runtime = map[string]bool{"__assertfail": false, "vprintf": true, "malloc": true, "free": true}

// check refuses what no rewrite can keep. If shared is set, instances or parts run in one
// launch, which excludes more.
func (u *unit) check(shared bool) error {
	name := u.kernel.Name
	if u.kernel.Cluster {
		return refuse(name, "it is declared for clusters of blocks")
	}
	for _, f := range u.funcs {
		if f.Extern && f.Alias == "" {
			effects, known := runtime[f.Name]
			if !known {
				return refuse(name, "it calls %s, which the module does not define", f.Name)
			}
			if shared && effects {
				return refuse(name, "it calls %s, whose effects several instances would mix", f.Name)
			}
		}
		for i := range f.Body {
			if reason := instReason(&f.Body[i]); reason != "" {
				return refuse(name, "%s", reason)
			}
		}
	}
	for _, v := range u.statics() {
		switch {
		case v.Handle != "":
			return refuse(name, "it uses the .%s %s, which is bound in the original module only", v.Handle, v.Name)
		case v.Extern && v.Space != ptx.Shared:
			return refuse(name, "it uses variable %s, which the module does not define", v.Name)
		}
	}
	if at := u.waits(); at != "" {
		return refuse(name, "its blocks wait for each other (%s in a loop), and a launch of other blocks may not run them all at once", at)
	}
	return nil
}

// checkVariables refuses a module variable that the instances of a batch would share and write.
func (u *unit) checkVariables() error {
	for _, v := range u.variables(0) {
		if v.Written {
			return refuse(u.kernel.Name, "it writes module variable %s, which the instances would share", v.Original)
		}
	}
	return nil
}

// variables lists the module variables that u uses, shared memory aside. A .global variable of a
// kernel whose accesses are not all understood counts as written.
func (u *unit) variables(part int) (list []Variable) {
	effects := access.Infer(u.from, u.from.Func(u.kernel.Name))
	for _, v := range u.statics() {
		if v.Space != ptx.Global && v.Space != ptx.Const {
			continue
		}
		from := u.origin[v]
		list = append(list, Variable{part, from.Name, v.Name, writes(effects, from), !u.written(from)})
	}
	return list
}

// writes reports whether code with these effects may write a module variable.
func writes(effects *access.Effects, v *ptx.Var) bool {
	at := slices.IndexFunc(effects.Symbols, func(s access.SymbolAccess) bool { return s.Name == v.Name })
	return v.Space == ptx.Global && (effects.Opaque != nil || at >= 0 && effects.Symbols[at].Access.Or(access.Read) != access.Read)
}

// written reports whether any kernel of the module may write a variable of it.
func (u *unit) written(v *ptx.Var) bool {
	return v.Space == ptx.Global && slices.ContainsFunc(u.from.Funcs, func(f *ptx.Func) bool {
		return f.Entry && writes(access.Infer(u.from, f), v)
	})
}

// instReason returns why a kernel with an instruction cannot be rewritten, or "".
func instReason(in *ptx.Inst) string {
	has := func(word string) bool { return slices.Contains(in.Suffix, word) }
	switch {
	case in.Name == "mapa", in.Name == "getctarank", in.Name == "barrier" && has("cluster"), has("multicast::cluster"):
		return "it uses " + in.Opcode() + ", which is for clusters of blocks"
	case in.Name == "griddepcontrol":
		return "it uses " + in.Opcode() + ", by which launches wait for each other"
	}
	reason := ""
	eachNested(in.Args, func(op *ptx.Operand) {
		if op.Kind == ptx.OpSpecial && reason == "" {
			reason = specialReason(op.Name)
		}
	})
	return reason
}

// specialReason returns why a kernel that reads a special register cannot be rewritten, or "".
func specialReason(name string) string {
	switch {
	case strings.HasPrefix(name, "%envreg"):
		return "it reads " + name + ", which holds the workspace of grid-wide barriers: the blocks of the launch would not be those of the grid"
	case strings.Contains(name, "cluster"):
		return "it reads " + name + ", which is about clusters of blocks"
	case name == "%current_graph_exec":
		return "it reads " + name + ", by which it may launch graphs"
	}
	return ""
}
