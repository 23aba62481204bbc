package device

import "fmt"

// WithFaults wraps a device so that calls fail on purpose. It asks fail before
// every call, with the number of the call from 0 and its method; a code other
// than 0 is what the call answers, and the device below does not see it. Close
// and the calls that free fail like any other: a caller must cope.
func WithFaults(d Device, fail func(n int, method string) Code) Device {
	if fail == nil {
		return d
	}
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
// fails with code, and no other.
func FailCall(n int, code Code) func(int, string) Code {
	return func(i int, _ string) Code {
		if i == n {
			return code
		}
		return 0
	}
}

// FailNth is a fail function for WithFaults: of the calls of one method the one
// with number n, from 0, fails.
func FailNth(method string, n int, code Code) func(int, string) Code {
	seen := -1
	return func(_ int, m string) Code {
		if m != method {
			return 0
		}
		if seen++; seen == n {
			return code
		}
		return 0
	}
}

// FailFrom is a fail function for WithFaults: call n and all after it fail, as
// after a sticky error and on a device that is lost. Only Close succeeds: drivers
// free what a broken context holds.
func FailFrom(n int, code Code) func(int, string) Code {
	return func(i int, method string) Code {
		if i >= n && method != "Close" {
			return code
		}
		return 0
	}
}

// FailWork is a fail function for WithFaults: the work that call n enqueues
// fails. As on a device that shows at the next call that waits, and from then
// on in all but Close. Nothing fails when call n enqueues no work.
func FailWork(n int, code Code) func(int, string) Code {
	failed, surfaced := false, false
	return func(i int, method string) Code {
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
