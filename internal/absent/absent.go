// Package absent makes the errors for arguments that are nil or zero and must not be.
package absent

import (
	"errors"
	"fmt"
	"io"
	"reflect"
)

// Err is in the chain of all of them. Programs know it as ir.ErrMissing.
var Err = errors.New("a required argument is missing")

// Nil is the error for an argument that is nil, "the graph".
func Nil(what string) error { return fmt.Errorf("%w: %s is nil", Err, what) }

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
	if r == nil {
		return none{"the reader"}
	}
	return r
}

// Writer returns w, or a writer that fails when w is nil.
func Writer(w io.Writer) io.Writer {
	if w == nil {
		return none{"the writer"}
	}
	return w
}

// none is a reader or writer that there is not.
type none struct{ what string }

func (n none) Read([]byte) (int, error)  { return 0, Nil(n.what) }
func (n none) Write([]byte) (int, error) { return 0, Nil(n.what) }
