//go:build cuda && cgo

package cuda

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"

	"gorgonia.org/cu"

	"github.com/reprise-gpu/reprise/device"
)

// module is a loaded module with the functions and variables found in it so far.
type module struct {
	name  string
	mod   cu.Module
	funcs []device.Function
}

// function is a kernel. The driver allows 48 KiB of dynamic shared memory per launch, and more only after the limit
// of the function was raised.
type function struct {
	name    string
	fn      cu.Function
	static  int // static shared memory, in bytes
	allowed int // limit of dynamic shared memory, in bytes
	params  int // size of the parameter block in bytes; -1 if the driver does not report it
}

const sharedByDefault = 48 << 10

// jitLog is the size of the buffer for the log of the driver's compiler, in bytes.
const jitLog = 16 << 10

// LoadModule compiles PTX with the driver. Errors contain the compiler's log.
func (d *gpuDevice) LoadModule(name, ptx string) (device.Module, error) {
	if err := d.enter(); err != nil {
		return 0, err.In("LoadModule")
	}
	defer d.mu.Unlock()
	if strings.Contains(ptx, "\x00") {
		return 0, refuse(device.InvalidPTX, "module %s contains a zero byte, but PTX is text", name).In("LoadModule")
	}
	log := cBytes(jitLog) // C memory, because gorgonia.org/cu passes the address as an integer
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

// invalidImage is CUDA_ERROR_INVALID_IMAGE. Drivers return it for text that does not look like PTX; here it has no
// other cause.
const invalidImage device.Code = 200

// place matches the prefix of an error of the driver's compiler. It names the input "ptxas application ptx input",
// which does not identify the module.
var place = regexp.MustCompile(`ptxas application ptx input, line (\d+)\s*;\s*`)

// compilerError returns the detail of an error with the compiler's log.
func compilerError(name, detail string, log []byte) string {
	n := max(0, bytes.IndexByte(log, 0))
	text := strings.TrimSpace(string(log[:n]))
	if text == "" {
		return fmt.Sprintf("module %s: %s", name, detail)
	}
	return fmt.Sprintf("module %s: %s", name, place.ReplaceAllString(text, strings.ReplaceAll(name, "$", "$$")+":$1: "))
}

// UnloadModule waits for all work, because work may run the module's code.
func (d *gpuDevice) UnloadModule(h device.Module) error {
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

func (d *gpuDevice) unload(m *module) *device.Error {
	return d.gorgonia("cuModuleUnload", m.mod.Unload)
}

// Function returns the kernel with the given name.
func (d *gpuDevice) Function(h device.Module, entry string) (device.Function, error) {
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

// takes returns an error if the parameter block has the wrong size, because the driver might read past its end.
func (f *function) takes(params []byte) *device.Error {
	if f.params >= 0 && len(params) != f.params {
		return refuse(device.InvalidValue, "kernel %s: %d bytes of parameters; it takes %d", f.name, len(params), f.params)
	}
	return nil
}

// allow raises the limit of dynamic shared memory of a function if necessary.
func (d *gpuDevice) allow(f *function, shared int) *device.Error {
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

// Global returns the variable with the given name.
func (d *gpuDevice) Global(h device.Module, name string) (device.Ptr, int64, error) {
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
