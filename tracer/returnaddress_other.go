//go:build !amd64

package tracer

// returnAddress returns 0, which is no return address: callers fall back on runtime.Callers.
func returnAddress() uintptr { return 0 }
