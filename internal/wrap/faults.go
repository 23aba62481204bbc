// Package wrap wraps devices for tests and benchmarks: calls that fail on purpose, a log of calls, and a count of driver
// calls.
package wrap

import (
	"fmt"

	"github.com/reprise-gpu/reprise/device"
)

// Faults wraps a device so that calls fail on purpose. It calls fail before every call, with the number of the
// call, from 0, and the name of its method. If fail returns a code other than 0, the call returns that code and does
// not reach the wrapped device. Close and the calls that free fail like all others: a caller must cope with that.
func Faults(d device.Device, fail func(n int, method string) device.Code) device.Device {
	if fail == nil {
		return d
	}
	n := 0
	return Intercept(d, func(c *Call, next func() error) error {
		code := fail(n, c.Method)
		n++
		if code != 0 {
			return &device.Error{Call: c.Method, Code: code, Detail: fmt.Sprintf("injected fault at call %d", n-1)}
		}
		return next()
	})
}

// FailCall returns a function for Faults that fails only call n, counted from 0, with the given code.
func FailCall(n int, code device.Code) func(int, string) device.Code {
	return func(i int, _ string) device.Code {
		if i == n {
			return code
		}
		return 0
	}
}

// FailNth returns a function for Faults that fails only the n-th call of the given method, counted from 0.
func FailNth(method string, n int, code device.Code) func(int, string) device.Code {
	seen := -1
	return func(_ int, m string) device.Code {
		if m != method {
			return 0
		}
		if seen++; seen == n {
			return code
		}
		return 0
	}
}

// FailFrom returns a function for Faults that fails call n and all later calls, as after a sticky error or when a
// device is lost. Only Close succeeds, because drivers free the resources of a broken context.
func FailFrom(n int, code device.Code) func(int, string) device.Code {
	return func(i int, method string) device.Code {
		if i >= n && method != "Close" {
			return code
		}
		return 0
	}
}

// FailWork returns a function for Faults that fails the work that call n enqueues. As on a GPU, the next call
// that waits returns the error, and so does every later call but Close. Nothing fails if call n enqueues no work.
func FailWork(n int, code device.Code) func(int, string) device.Code {
	failed, surfaced := false, false
	return func(i int, method string) device.Code {
		surfaced = surfaced || failed && waits(method)
		if surfaced && method != "Close" {
			return code
		}
		failed = failed || i == n && enqueues(method)
		return 0
	}
}

func enqueues(method string) bool {
	return method == "Submit" || method == "LaunchGraph" || method == "SubmitCommands"
}

func waits(method string) bool {
	switch method {
	case "Synchronize", "SynchronizeAll", "Free", "Read", "Write", "ToHost", "UnloadModule":
		return true
	}
	return false
}
