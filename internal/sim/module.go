package sim

import (
	"errors"
	"fmt"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/interp"
	"github.com/reprise-gpu/reprise/internal/ptx"
)

// module is a loaded PTX module.
type module struct {
	name  string
	tree  *ptx.Module
	code  *interp.Module
	funcs []device.Function
	gone  bool // unloaded; graphs that launch its kernels check it
}

// kernel is the value of a function handle.
type kernel struct {
	of   *module
	name string
	code *interp.Kernel
	req  [3]uint32 // required block extents from .reqntid; zero if any are accepted
}

// LoadModule parses, checks and compiles PTX. A syntax error names file, line and column.
func (d *Device) LoadModule(name, text string) (device.Module, error) {
	return d.LoadModuleLimited(name, text, 0)
}

// LoadModuleLimited is LoadModule with a limit of registers per thread, 0 for none. A kernel's own .maxnreg overrides
// it.
func (d *Device) LoadModuleLimited(name, text string, maxRegisters int) (device.Module, error) {
	if err := d.enter(d.profile.Host.LoadModule); err != nil {
		return 0, err.In("LoadModule")
	}
	m := &module{name: name}
	tree, err := parse(name, text, maxRegisters)
	if err == nil {
		err = runsOn(d.profile, tree)
	}
	if err == nil {
		err = tree.Undefined(interp.Builtin)
	}
	if err == nil {
		m.tree = tree
		m.code, err = interp.LoadModule(d.memory, tree)
	}
	if err != nil {
		code := device.InvalidPTX
		if errors.Is(err, interp.ErrOutOfMemory) {
			code = device.OutOfMemory
		}
		return 0, (&device.Error{Code: code, Detail: "module " + name, Err: err}).In("LoadModule")
	}
	return d.modules.Add(m), nil
}

// parse parses a module, whose kernels without a limit of their own get maxRegisters.
func parse(name, text string, maxRegisters int) (*ptx.Module, error) {
	if maxRegisters == 0 {
		return ptx.ParseShared(name, text)
	}
	m, err := ptx.Parse(name, text)
	if err != nil {
		return nil, err
	}
	for _, f := range m.Funcs {
		if f.Entry && f.MaxRegs == 0 {
			f.MaxRegs = uint32(maxRegisters)
		}
	}
	return m, nil
}

// UnloadModule waits for all work, because work may run the module's code.
func (d *Device) UnloadModule(h device.Module) error {
	if err := d.enter(d.profile.Host.Create); err != nil {
		return err.In("UnloadModule")
	}
	m, err := d.modules.Get(h)
	if err != nil {
		return err.In("UnloadModule")
	}
	if err := d.drain(); err != nil {
		return err.In("UnloadModule")
	}
	if _, err := d.modules.Remove(h); err != nil { // another caller may have unloaded it meanwhile
		return err.In("UnloadModule")
	}
	for _, f := range m.funcs {
		_, _ = d.funcs.Remove(f)
	}
	m.gone = true
	m.code.Unload()
	return nil
}

// Function returns the kernel with the given name.
func (d *Device) Function(h device.Module, entry string) (device.Function, error) {
	m, bad := d.modules.Get(h)
	if err := first(d.enter(d.profile.Host.Query), bad); err != nil {
		return 0, err.In("Function")
	}
	for _, f := range m.funcs {
		if k, err := d.funcs.Get(f); err == nil && k.name == entry {
			return f, nil // the same handle each time, so that the memo recognizes the kernel
		}
	}
	code, err := m.code.Kernel(entry)
	if err != nil {
		return 0, (&device.Error{Code: device.NotFound, Detail: fmt.Sprintf("kernel %q of module %s", entry, m.name), Err: err}).In("Function")
	}
	f := d.funcs.Add(&kernel{of: m, name: entry, code: code, req: required(m.tree, entry)})
	m.funcs = append(m.funcs, f)
	return f, nil
}

// Global returns the variable with the given name.
func (d *Device) Global(h device.Module, name string) (device.Ptr, int64, error) {
	m, bad := d.modules.Get(h)
	if err := first(d.enter(d.profile.Host.Query), bad); err != nil {
		return 0, 0, err.In("Global")
	}
	addr, size, err := m.code.Global(name)
	if err != nil {
		return 0, 0, (&device.Error{Code: device.NotFound, Detail: fmt.Sprintf("variable %q of module %s", name, m.name), Err: err}).In("Global")
	}
	return device.Ptr(addr), size, nil
}

// required returns a kernel's .reqntid.
func required(m *ptx.Module, entry string) (block [3]uint32) {
	for _, f := range m.Funcs {
		if f.Entry && f.Name == entry {
			block = f.ReqThreads
		}
	}
	return block
}
