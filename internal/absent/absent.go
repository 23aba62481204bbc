// Package absent makes the errors for arguments that are nil or zero and must not be.
package absent

import (
	"errors"
	"io"
	"reflect"
)

// Err is in the chain of all of them. It is exported to programs as ir.ErrMissing.
var Err = errors.New("a required argument is missing")

// Error is a sentence about such an argument. Err is in its chain.
type Error string

func (e Error) Error() string { return string(e) }

// Unwrap returns Err.
func (e Error) Unwrap() error { return Err }

// Nil is the error for an argument that is nil, "the graph".
func Nil(what string) error { return Error(what + " is nil") }

// Is reports whether v is nil, or an interface with a nil pointer, function or map in it.
func Is(v any) bool {
	if v == nil {
		return true
	}
	switch of := reflect.ValueOf(v); of.Kind() {
	case reflect.Pointer, reflect.Func, reflect.Map:
		return of.IsNil()
	}
	return false
}

// Reader returns r, or a reader that fails when r is nil.
func Reader(r io.Reader) io.Reader {
	if Is(r) {
		return none{"the reader"}
	}
	return r
}

// Writer returns w, or a writer that fails when w is nil.
func Writer(w io.Writer) io.Writer {
	if Is(w) {
		return none{"the writer"}
	}
	return w
}

// none is a reader or writer that there is not.
type none struct{ what string }

func (n none) Read([]byte) (int, error)  { return 0, Nil(n.what) }
func (n none) Write([]byte) (int, error) { return 0, Nil(n.what) }
