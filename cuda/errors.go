//go:build cuda

package cuda

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/reprise-gpu/reprise/device"
)

// refuse is an error that needs no driver to find.
func refuse(code device.Code, format string, args ...any) *device.Error {
	return &device.Error{Code: code, Detail: fmt.Sprintf(format, args...)}
}

// first returns the first error there is.
func first(errs ...*device.Error) *device.Error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// codeOf is the driver's code in an error of gorgonia.org/cu, whose type for it is
// not exported.
func codeOf(err error) device.Code {
	if err == nil {
		return 0
	}
	if v := reflect.ValueOf(err); v.Kind() == reflect.Int {
		return device.Code(v.Int())
	}
	return device.Unknown
}

// gorgonia runs a function of gorgonia.org/cu where the context is current; call is
// the function of the driver behind it.
func (d *Device) gorgonia(call string, f func() error) *device.Error {
	return d.failed(call, codeOf(d.executor.do(f)))
}

// failed is the error for what a function of the driver answered, nil for 0. From a
// code that the driver goes on answering it is what every later call answers, too.
func (d *Device) failed(call string, code device.Code) *device.Error {
	if code == 0 {
		return nil
	}
	err := explain(call, code)
	if code.Sticky() {
		d.fault = err
	}
	return d.poisonOr(err)
}

// poisonOr is a copy of err, since each caller puts its own name in.
func (d *Device) poisonOr(err *device.Error) *device.Error {
	if err == nil {
		return nil
	}
	c := *err
	return &c
}

// explain says what is known of a failure: from the simulator the particulars, from a
// GPU's driver its name and text for the code.
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
