package ptx

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/reprise-gpu/reprise/internal/absent"
)

// Link combines modules into one, called file, as a linker does. Functions for which provided
// returns true may stay undefined. For each name, the definition of the highest rank is kept,
// and of equal ranks the first:
//
//	rank 2    a definition                  two of them are an error
//	rank 1    .weak or .common
//	rank 0    .extern, a declaration        an error if nothing else has the name
//
// Names that are local to one module are renamed if another module has them. The cost is linear
// in the declarations and instructions of the modules.
//
// Link takes over the modules and changes them. The result is meant for printing: its operands
// still point to the variables of the input modules.
func Link(file string, provided func(name string) bool, modules ...*Module) (*Module, error) {
	if slices.Contains(modules, nil) {
		return nil, absent.Nil("a module")
	}
	l := &linker{out: &Module{File: file, Files: map[int32]string{}}, funcs: map[string]int{}, vars: map[string]int{}, files: map[string]string{}}
	renameLocals(modules)
	for _, m := range modules {
		l.head(m)
		for _, v := range m.Vars {
			l.variable(m, v)
		}
		for _, f := range m.Funcs {
			l.function(m, f)
		}
	}
	return l.out, errors.Join(append(l.errs, l.out.undefined(provided, func(name string) string { return l.files[name] }))...)
}

// linker is the state of Link.
type linker struct {
	out         *Module
	vars, funcs map[string]int    // by name: the index in out
	files       map[string]string // by name: the file that it is from
	errs        []error
}

// fail records an error and continues.
func (l *linker) fail(m *Module, pos Pos, format string, args ...any) {
	l.errs = append(l.errs, &Error{File: m.File, Pos: pos, Msg: fmt.Sprintf(format, args...)})
}

// head keeps the newest version and target.
func (l *linker) head(m *Module) {
	switch {
	case l.out.AddressSize == 0:
		l.out.Version, l.out.Target, l.out.AddressSize = m.Version, m.Target, m.AddressSize
	case l.out.AddressSize != m.AddressSize:
		l.fail(m, Pos{}, "addresses have %d bits: those of the previous modules have %d", m.AddressSize, l.out.AddressSize)
	}
	if Newer(m.Version, l.out.Version) {
		l.out.Version = m.Version
	}
	if Newer(m.Target, l.out.Target) {
		l.out.Target = m.Target
	}
}

// Newer reports whether version or target a is above b: their numbers decide, then the suffix, as in sm_90a.
func Newer(a, b string) bool {
	x, y := strings.TrimRight(a, "af"), strings.TrimRight(b, "af")
	if x == y {
		return len(a) > len(b)
	}
	return len(x) > len(y) || len(x) == len(y) && x > y // "sm_100" is above "sm_90", and "10.0" above "9.0"
}

// rank orders the definitions of a name: the one of higher rank is kept.
func rank(extern bool, link Linkage) int {
	switch {
	case extern:
		return 0
	case link == Weak || link == Common:
		return 1
	}
	return 2
}

// variable adds a variable of m, or replaces one of lower rank.
func (l *linker) variable(m *Module, v *Var) {
	i, ok := l.vars[v.Name]
	if !ok {
		l.vars[v.Name], l.files[v.Name] = len(l.out.Vars), m.File
		l.out.Vars = append(l.out.Vars, v)
		return
	}
	old := l.out.Vars[i]
	switch have, add := rank(old.Extern, old.Link), rank(v.Extern, v.Link); {
	case have == 2 && add == 2:
		l.fail(m, v.Pos, "variable %s is defined twice", v.Name)
	case add > have:
		l.out.Vars[i] = v
	}
}

// function adds a function of m, or replaces one of lower rank.
func (l *linker) function(m *Module, f *Func) {
	i, ok := l.funcs[f.Name]
	if !ok {
		l.funcs[f.Name], l.files[f.Name] = len(l.out.Funcs), m.File
		l.out.Funcs = append(l.out.Funcs, f)
		return
	}
	old := l.out.Funcs[i]
	switch have, add := rank(old.Extern, old.Link), rank(f.Extern, f.Link); {
	case have == 2 && add == 2:
		l.fail(m, f.Pos, "function %s is defined twice", f.Name)
	case add > have:
		l.out.Funcs[i] = f
	}
}

// Undefined returns an error for each function and variable that the module
// declares but does not define, or nil. Exceptions are functions for which
// provided returns true, and dynamic shared memory.
func (m *Module) Undefined(provided func(name string) bool) error {
	return m.undefined(provided, func(string) string { return m.File })
}

// undefined is Undefined for declarations that come from several files.
func (m *Module) undefined(provided func(string) bool, file func(name string) string) error {
	var errs []error
	fail := func(pos Pos, kind, name string) {
		errs = append(errs, &Error{File: file(name), Pos: pos, Msg: fmt.Sprintf("undefined reference to %s %s", kind, name)})
	}
	for _, v := range m.Vars {
		if v.Extern && v.Space != Shared {
			fail(v.Pos, "variable", v.Name)
		}
	}
	for _, f := range m.Funcs {
		if f.Extern && f.Alias == "" && !provided(f.Name) {
			fail(f.Pos, "function", f.Name)
		}
	}
	return errors.Join(errs...)
}

// renameLocals renames the names that are local to their module and occur in another one, from
// name to name__i for module i.
func renameLocals(modules []*Module) {
	seen := map[string]int{} // by name: the number of modules that have it
	for _, m := range modules {
		for _, v := range m.Vars {
			seen[v.Name]++
		}
		for _, f := range m.Funcs {
			seen[f.Name]++
		}
	}
	for i, m := range modules {
		names := map[string]string{}
		fresh := func(name string) string {
			if seen[name] < 2 {
				return name
			}
			to := name + "__" + strconv.Itoa(i)
			// The new name must not be that of another declaration.
			for seen[to] > 0 {
				to += "_"
			}
			seen[to]++
			names[name] = to
			return to
		}
		for _, v := range m.Vars {
			// Static names are visible in their module only.
			if v.Link == Static && !v.Extern {
				v.Name = fresh(v.Name)
			}
		}
		for _, f := range m.Funcs {
			if f.Link == Static && !f.Extern && !f.Entry {
				f.Name = fresh(f.Name)
			}
		}
		if len(names) > 0 {
			m.rename(names)
		}
	}
}

// rename replaces the names of functions and variables. Operands that point to
// a variable take their name from it.
func (m *Module) rename(names map[string]string) {
	replace := func(name *string) {
		if to, ok := names[*name]; ok {
			*name = to
		}
	}
	for _, v := range m.Statics() {
		for i := range v.Relocs {
			replace(&v.Relocs[i].Symbol)
		}
	}
	for _, f := range m.Funcs {
		replace(&f.Alias)
		for _, p := range f.Protos {
			for i := range p.Targets {
				replace(&p.Targets[i])
			}
		}
		for i := range f.Body {
			renameOperands(f.Body[i].Args, replace)
		}
	}
}

// renameOperands replaces the names of functions in operands, nested ones included.
func renameOperands(ops []Operand, replace func(*string)) {
	for i := range ops {
		op := &ops[i]
		if op.Var == nil && (op.Kind == OpFunc || op.Kind == OpSymbol) {
			replace(&op.Name)
		}
		renameOperands(op.Elems, replace)
	}
}

// String returns the module's text, as written by Print.
func (m *Module) String() string {
	var b strings.Builder
	if err := Print(&b, m); err != nil {
		panic("BUG: writing to memory failed: " + err.Error())
	}
	return b.String()
}
