//go:build cuda && cgo

package cuda

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/reprise-gpu/reprise/device"
)

// refuse returns an error found without the driver.
func refuse(code device.Code, format string, args ...any) *device.Error {
	return &device.Error{Code: code, Detail: fmt.Sprintf(format, args...)}
}

// first returns the first error that is not nil.
func first(errs ...*device.Error) *device.Error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// codeOf returns the driver's code in an error of gorgonia.org/cu, whose type is not exported.
func codeOf(err error) device.Code {
	if err == nil {
		return 0
	}
	if v := reflect.ValueOf(err); v.Kind() == reflect.Int {
		return device.Code(v.Int())
	}
	return device.Unknown
}

// gorgonia runs a function of gorgonia.org/cu on the executor. Argument call is the name of the driver function
// behind it.
func (d *gpuDevice) gorgonia(call string, f func() error) *device.Error {
	return d.failed(call, codeOf(d.executor.do(f)))
}

// failed returns the error for a code from a driver function, or nil for 0. If the code is sticky, every later call
// returns this error.
func (d *gpuDevice) failed(call string, code device.Code) *device.Error {
	if code == 0 {
		return nil
	}
	err := explain(call, code)
	if code.Sticky() {
		d.fault = err
	}
	return d.poisonOr(err)
}

// poisonOr returns a copy of the error, because each caller adds its own name.
func (d *gpuDevice) poisonOr(err *device.Error) *device.Error {
	if err == nil {
		return nil
	}
	c := *err
	return &c
}

// explain returns an error with the known details of a failure: from the simulator the cause, from a GPU's driver its
// name and text for the code.
func explain(call string, code device.Code) *device.Error {
	err := &device.Error{Code: code}
	if err.Detail, err.Fault = lastError(code); err.Detail != "" || err.Fault != nil {
		return err
	}
	err.Detail = call + ": " + textOf(code)
	if strings.HasPrefix(code.String(), "CUDA_ERROR(") {
		err.Detail = call + ": " + nameOf(code) + ": " + textOf(code)
	}
	return err
}
