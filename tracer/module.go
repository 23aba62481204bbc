package tracer

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/calls"
	"github.com/reprise-gpu/reprise/internal/ptx"
	"github.com/reprise-gpu/reprise/internal/sentinel"
	"github.com/reprise-gpu/reprise/ir"
)

// Module is a loaded PTX module.
type Module struct {
	t       *Tracer
	id      ir.ModuleID
	handle  device.Module
	ast     *ptx.Module
	kernels map[string]*Kernel

	requested string              // the name it was loaded under; the graph's may differ
	symbols   map[string]ir.Range // module-scope variables that kernels touch
}

// Kernel is an entry of a module, with its parameters and the inferred accesses through each.
type Kernel struct {
	module   *Module
	entry    string
	id       calls.Kernel // zero for a kernel that was not found
	function device.Function
	params   []param
	reach    *reacher
	repeats  repeats
	checked  checked
	symbols  []ir.Access // of module-scope variables
	opaque   bool        // may touch memory that no parameter leads to
}

// name returns the name of the entry; k may be nil.
func (k *Kernel) name() string {
	if k == nil {
		return "no kernel"
	}
	return k.entry
}

// param is one parameter of a kernel.
//
// PTX does not mark pointers: they are 64-bit integers. Inference finds two kinds of access through a
// value: directly, where it is the base of an address, and as an offset, where the kernel computes with
// it as a number that might be an address.
type param struct {
	name    string
	typ     ir.Type // type of a scalar
	pointer bool    // may hold an address: 64 bits wide and not floating-point
	touched bool    // dereferenced directly
	counted bool    // dereferenced if its value, which is used as a number, is an address
	reached bool    // touched or counted
	ranged  bool    // the bytes that one launch reaches can be computed
	mode    ir.Mode // of the accesses, if reached
}

// Module parses PTX text and loads it on the device. name is the file name that
// errors and saved traces use. Loading the same text under the same name again
// returns the first module.
func (t *Tracer) Module(name, source string) *Module {
	if t == nil {
		return &Module{}
	}
	t.stopped() // prepares a zero Tracer
	for i, m := range t.modules {
		if m.requested == name && t.graph.Modules[i].Source == source {
			return m
		}
	}
	m := &Module{t: t, requested: name, id: ir.ModuleID(len(t.modules)), kernels: map[string]*Kernel{}, symbols: map[string]ir.Range{}}
	if t.err != nil {
		return m
	}
	if err := m.load(source); err != nil {
		t.fail(t.callerPC(), "%w", err)
		return m
	}
	t.graph.Modules = append(t.graph.Modules, t.describeModule(name, source))
	return m
}

// load parses the text of a module, loads it on the device, and adds the module to those of the trace.
func (m *Module) load(source string) (err error) {
	if m.ast, err = ptx.ParseShared(m.requested, source); err != nil {
		return err
	}
	if m.handle, err = m.t.dev.LoadModule(m.requested, source); err != nil {
		return err
	}
	m.t.modules = append(m.t.modules, m)
	return nil
}

// describeModule returns the module for the graph. Its name is the stem of the file, with a number if
// another module has that name.
func (t *Tracer) describeModule(file, source string) ir.Module {
	name := identifier(file)
	for n := 2; slices.ContainsFunc(t.graph.Modules, func(m ir.Module) bool { return m.Name == name }); n++ {
		name = fmt.Sprintf("%s_%d", identifier(file), n)
	}
	if slices.ContainsFunc(t.graph.Modules, func(m ir.Module) bool { return m.File == file }) {
		file = name + ".ptx"
	}
	return ir.Module{Name: name, File: file, Source: source}
}

// identifier turns a file name into a name for the text form: "a/b-c.ptx" is b_c.
func identifier(file string) string {
	stem, _, _ := strings.Cut(path.Base(file), ".")
	name := strings.Map(func(r rune) rune {
		if r == '_' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			return r
		}
		return '_'
	}, stem)
	if name == "" || name[0] >= '0' && name[0] <= '9' {
		name = "m" + name
	}
	return name
}

// Kernel finds an entry of the module and infers what it does with its
// pointers. A signature such as "x: in f32*, y: out f32*, n: i32" may declare
// it as well; one that claims less than the PTX shows is an error.
func (m *Module) Kernel(entry string, signature ...string) *Kernel {
	if m == nil || m.t == nil {
		return &Kernel{entry: entry}
	}
	if k, ok := m.kernels[entry]; ok && len(signature) == 0 {
		return k
	}
	k := &Kernel{module: m, entry: entry}
	if m.t.err != nil {
		return k
	}
	if err := k.find(signature); err != nil {
		m.t.fail(m.t.callerPC(), "%w", err)
	}
	return k
}

// find finds the entry in the module, describes it, and adds the kernel to those of the module.
func (k *Kernel) find(signature []string) (err error) {
	m := k.module
	f := m.find(k.entry)
	if f == nil {
		return sentinel.Errorf(sentinel.ErrUnknown, "module %s has no kernel %q: it has %s", m.ast.File, k.entry, strings.Join(m.entries(), ", "))
	}
	if err := k.describe(f, signature); err != nil {
		return err
	}
	if k.function, err = m.t.dev.Function(m.handle, k.entry); err != nil {
		return err
	}
	m.t.kernels = append(m.t.kernels, k)
	k.id = calls.Kernel{Entry: k.entry, Number: len(m.t.kernels)}
	m.kernels[k.entry] = k
	return nil
}

// find returns the entry of that name, nil for none.
func (m *Module) find(entry string) *ptx.Func {
	for _, f := range m.ast.Funcs {
		if f.Entry && f.Name == entry {
			return f
		}
	}
	return nil
}

// entries returns the names of all entries, for an error.
func (m *Module) entries() []string {
	var names []string
	for _, f := range m.ast.Funcs {
		if f.Entry {
			names = append(names, f.Name)
		}
	}
	return names
}
