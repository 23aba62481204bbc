package device

import "fmt"

// WithFaults wraps a device so that calls fail on purpose. It asks fail before
// every call, with the number of the call from 0 and its method; a code other
// than 0 is what the call answers, and the device below does not see it. Close
// and the calls that free fail like any other: a caller must cope.
func WithFaults(d Device, fail func(n int, method string) Code) Device {
	n := 0
	return Intercept(d, func(c *Call, next func() error) error {
		code := fail(n, c.Method)
		n++
		if code != 0 {
			return &Error{Call: c.Method, Code: code, Detail: fmt.Sprintf("injected fault at call %d", n-1)}
		}
		return next()
	})
}

// FailCall is a fail function for WithFaults: the call with number n, from 0,
// fails with code.
func FailCall(n int, code Code) func(int, string) Code {
	return func(i int, _ string) Code {
		if i == n {
			return code
		}
		return 0
	}
}
