//go:build cuda

package cuda

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"

	"gorgonia.org/cu"

	"github.com/reprise-gpu/reprise/device"
)

// module is a loaded module and what was looked up in it.
type module struct {
	name  string
	mod   cu.Module
	funcs []device.Function
}

// function is a kernel. The driver grants 48 KiB of dynamic shared memory to a launch,
// and more only to functions for which that was allowed before.
type function struct {
	name    string
	fn      cu.Function
	static  int // bytes of shared memory that the code declares
	allowed int // bytes of dynamic shared memory
	params  int // bytes of the parameter block, -1 when the driver does not tell
}

const sharedByDefault = 48 << 10

// jitLog is how much the driver's compiler may say about a module, in bytes.
const jitLog = 16 << 10

// LoadModule has the driver compile PTX. An error has the compiler's log.
func (d *Device) LoadModule(name, ptx string) (device.Module, error) {
	if err := d.enter(); err != nil {
		return 0, err.In("LoadModule")
	}
	defer d.mu.Unlock()
	if strings.Contains(ptx, "\x00") {
		return 0, refuse(device.InvalidPTX, "module %s has a zero byte; PTX is text", name).In("LoadModule")
	}
	log := cBytes(jitLog) // gorgonia.org/cu hides the address in a number, so it must not be Go's
	defer freeBytes(log)
	m := &module{name: name}
	err := d.gorgonia("cuModuleLoadDataEx", func() (err error) {
		label(name)
		m.mod, err = cu.LoadDataEx(ptx, &cu.JITErrorLogBuffer{Buffer: log})
		return err
	})
	if err != nil {
		err.Detail = compilerError(name, err.Detail, log)
		if err.Code == invalidImage {
			err.Code = device.InvalidPTX
		}
		return 0, err.In("LoadModule")
	}
	return d.modules.Add(m), nil
}

// invalidImage is CUDA_ERROR_INVALID_IMAGE, a driver's answer to a text that does not even
// look like PTX. From here it could be nothing else.
const invalidImage device.Code = 200

// place is what the driver's compiler says before an error. It calls its input "ptxas
// application ptx input", which is no help to who has several.
var place = regexp.MustCompile(`ptxas application ptx input, line (\d+)\s*;\s*`)

// compilerError puts the compiler's log in an error's detail.
func compilerError(name, detail string, log []byte) string {
	n := max(0, bytes.IndexByte(log, 0))
	text := strings.TrimSpace(string(log[:n]))
	if text == "" {
		return fmt.Sprintf("module %s: %s", name, detail)
	}
	return fmt.Sprintf("module %s: %s", name, place.ReplaceAllString(text, strings.ReplaceAll(name, "$", "$$")+":$1: "))
}

// UnloadModule waits for all work, since some of it may run the module's code.
func (d *Device) UnloadModule(h device.Module) error {
	if err := d.enter(); err != nil {
		return err.In("UnloadModule")
	}
	defer d.mu.Unlock()
	m, err := d.modules.Get(h)
	if err != nil {
		return err.In("UnloadModule")
	}
	if err := first(d.waitAll(), d.unload(m)); err != nil {
		return err.In("UnloadModule")
	}
	d.memory.unload(h)
	for _, f := range m.funcs {
		_, _ = d.funcs.Remove(f)
	}
	_, err = d.modules.Remove(h)
	return err.In("UnloadModule")
}

func (d *Device) unload(m *module) *device.Error {
	return d.gorgonia("cuModuleUnload", m.mod.Unload)
}

// Function finds a kernel by its name.
func (d *Device) Function(h device.Module, entry string) (device.Function, error) {
	if err := d.enter(); err != nil {
		return 0, err.In("Function")
	}
	defer d.mu.Unlock()
	m, err := d.modules.Get(h)
	if err != nil {
		return 0, err.In("Function")
	}
	for _, h := range m.funcs {
		if f, _ := d.funcs.Get(h); f.name == entry {
			return h, nil
		}
	}
	f := &function{name: entry}
	err = d.gorgonia("cuModuleGetFunction", func() (err error) {
		if f.fn, err = m.mod.Function(entry); err != nil {
			return err
		}
		f.static, err = f.fn.Attribute(cu.SharedSizeBytes)
		return err
	})
	if err != nil {
		err.Detail = fmt.Sprintf("kernel %q of module %s: %s", entry, m.name, err.Detail)
		return 0, err.In("Function")
	}
	f.allowed = max(0, sharedByDefault-f.static)
	f.params = -1
	if n, ok := d.driver.paramBytes(f.fn); ok {
		f.params = n
	}
	p := d.funcs.Add(f)
	m.funcs = append(m.funcs, p)
	return p, nil
}

// takes refuses a parameter block of the wrong size, of which the driver might read past
// the end.
func (f *function) takes(params []byte) *device.Error {
	if f.params >= 0 && len(params) != f.params {
		return refuse(device.InvalidValue, "kernel %s: %d bytes of parameters; it takes %d", f.name, len(params), f.params)
	}
	return nil
}

// allow has the driver accept launches with so much dynamic shared memory.
func (d *Device) allow(f *function, shared int) *device.Error {
	if shared <= f.allowed {
		return nil
	}
	if most := d.info.MaxShared - f.static; shared > most {
		return refuse(device.InvalidValue, "kernel %s: %d bytes of shared memory, %d of them static; the device allows %d",
			f.name, shared+f.static, f.static, d.info.MaxShared)
	}
	if err := d.failed("cuFuncSetAttribute", d.driver.allowShared(f.fn, shared)); err != nil {
		return err
	}
	f.allowed = shared
	return nil
}

// Global finds a variable by its name.
func (d *Device) Global(h device.Module, name string) (device.Ptr, int64, error) {
	if err := d.enter(); err != nil {
		return 0, 0, err.In("Global")
	}
	defer d.mu.Unlock()
	m, err := d.modules.Get(h)
	if err != nil {
		return 0, 0, err.In("Global")
	}
	var p cu.DevicePtr
	var size int64
	err = d.gorgonia("cuModuleGetGlobal", func() (err error) { p, size, err = m.mod.Global(name); return err })
	if err != nil {
		err.Detail = fmt.Sprintf("variable %q of module %s: %s", name, m.name, err.Detail)
		return 0, 0, err.In("Global")
	}
	d.memory.add(block{base: device.Ptr(p), size: size, variable: h})
	return device.Ptr(p), size, nil
}
