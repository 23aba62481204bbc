package interp

import (
	"encoding/binary"
	"fmt"

	"github.com/reprise-gpu/reprise/internal/ptx"
)

// Module is a PTX module whose variables live in one address space.
type Module struct {
	ptx     *ptx.Module
	mem     *Memory
	globals map[*ptx.Var]uint64
	kernels map[string]*Kernel
	calls   *callGraph
}

// LoadModule allocates and initialises the module's global and constant variables in mem.
// Errors are lack of memory and initial values with unknown symbols; nothing then remains
// allocated.
func LoadModule(mem *Memory, m *ptx.Module) (*Module, error) {
	mod := &Module{ptx: m, mem: mem, globals: map[*ptx.Var]uint64{}, kernels: map[string]*Kernel{}, calls: newCallGraph(m)}
	if err := mod.fits(); err != nil {
		return nil, err
	}
	for _, v := range m.Statics() {
		if err := mod.allocate(v); err != nil {
			mod.Unload()
			return nil, err
		}
	}
	// Initial values may contain the addresses of variables that are declared later.
	for _, v := range m.Statics() {
		if err := mod.initialise(v); err != nil {
			mod.Unload()
			return nil, err
		}
	}
	return mod, nil
}

// Unload frees the module's variables. Its kernels must no longer run.
func (m *Module) Unload() {
	for _, v := range m.ptx.Statics() {
		if addr, ok := m.globals[v]; ok {
			m.mem.forgetReference(addr)
			if err := m.mem.Free(addr); err != nil {
				panic("BUG: module variable is not allocated: " + err.Error())
			}
			delete(m.globals, v)
		}
	}
}

// Kernel returns the kernel of that name. The first call with a name lowers the kernel, because
// programs use few kernels of large modules. The launch of a kernel with instructions that are
// not supported is a fault.
func (m *Module) Kernel(name string) (*Kernel, error) {
	if k, ok := m.kernels[name]; ok {
		return k, nil
	}
	for _, f := range m.ptx.Funcs {
		if f.Name == name && f.Entry && !f.Extern {
			k := compile(m, f)
			m.kernels[name] = k
			return k, nil
		}
	}
	return nil, fmt.Errorf("interp: %s has no kernel %q", m.ptx.File, name)
}

// Global returns the address and size in bytes of a module variable.
func (m *Module) Global(name string) (addr uint64, size int64, err error) {
	for _, v := range m.ptx.Statics() {
		if a, ok := m.globals[v]; ok && v.Name == name {
			return a, v.Size(), nil
		}
	}
	return 0, 0, fmt.Errorf("interp: %s has no global variable %q", m.ptx.File, name)
}

// Reference returns the address of a texture or surface reference, by which it is
// bound. Kind is "texref" or "surfref".
func (m *Module) Reference(name, kind string) (addr uint64, err error) {
	for _, v := range m.ptx.Statics() {
		if a, ok := m.globals[v]; ok && v.Name == name && v.Handle == kind {
			return a, nil
		}
	}
	return 0, fmt.Errorf("interp: %s has no .%s %q", m.ptx.File, kind, name)
}

// constants returns the addresses and sizes of the .const variables.
func (m *Module) constants() (list [][2]uint64) {
	for _, v := range m.ptx.Statics() {
		if addr, ok := m.globals[v]; ok && v.Space == ptx.Const {
			list = append(list, [2]uint64{addr, uint64(v.Size())})
		}
	}
	return list
}

// Owns reports whether a variable of the module starts at addr.
func (m *Module) Owns(addr uint64) bool {
	for _, a := range m.globals {
		if a == addr {
			return true
		}
	}
	return false
}

// fits compares the size of the module's variables with the free memory, before any of
// it is allocated.
func (m *Module) fits() error {
	total, free := int64(0), m.mem.bank.Free()
	for _, v := range m.ptx.Statics() {
		if v.Extern || v.Space != ptx.Global && v.Space != ptx.Const {
			continue
		}
		if total += v.Size(); total > free {
			return fmt.Errorf("interp: %s:%d: %w: the variables of the module up to %s take %d bytes, %d of %d are free", m.ptx.File, v.Pos.Line, ErrOutOfMemory, v.Name, total, free, m.mem.bank.Size())
		}
	}
	return nil
}

// allocate allocates a .global or .const variable.
func (m *Module) allocate(v *ptx.Var) error {
	if v.Space != ptx.Global && v.Space != ptx.Const || v.Extern {
		return nil
	}
	a, err := m.mem.alloc(v.Size(), v.Name) // zero if there is no initialiser
	if err != nil {
		return fmt.Errorf("interp: %s:%d: %w", m.ptx.File, v.Pos.Line, err)
	}
	m.globals[v] = a.base
	if v.Handle != "" {
		m.mem.declareReference(a.base)
	}
	return nil
}

// relocSize returns the bytes of an address that an initialiser of v writes: the size
// of an element, but all eight bytes in an array of bytes, where each is written
// separately.
func relocSize(v *ptx.Var) int {
	if n := v.Type.Size(); n > 1 {
		return min(n, 8)
	}
	return 8
}

// initialise stores the initial value of a variable, and the addresses in it. All variables
// have addresses by then.
func (m *Module) initialise(v *ptx.Var) error {
	addr, ok := m.globals[v]
	if !ok || v.Init == nil {
		return nil
	}
	data, err := m.mem.Bytes(addr, v.Size())
	if err != nil {
		panic("BUG: module variable is not allocated: " + err.Error())
	}
	copy(data, v.Init)
	for _, r := range v.Relocs {
		target, _, err := m.Global(r.Symbol)
		// The symbol is a function.
		if at := m.calls.address[r.Symbol]; at != 0 {
			target, err = at, nil
		}
		if err != nil {
			return fmt.Errorf("interp: %s:%d: initialiser of %s: %s is not a variable or function with an address", m.ptx.File, v.Pos.Line, v.Name, r.Symbol)
		}
		var address [8]byte
		binary.LittleEndian.PutUint64(address[:], target+uint64(r.Addend))
		copy(data[r.Offset:], address[:relocSize(v)])
	}
	return nil
}
