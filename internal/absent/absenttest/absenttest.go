// Package absenttest calls functions with arguments left out, for tests: what a package exports returns errors for them
// and does not panic.
package absenttest

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// Calls is what to call.
type Calls struct {
	// Funcs are functions by name: all exported ones of the package in the working directory that take arguments.
	Funcs map[string]any
	// Receivers make values whose exported methods are called, each on a value of its own.
	Receivers []func(t *testing.T) any
	// Pool makes the arguments that are not left out, one value of a type. Types without one are left out always.
	Pool func(t *testing.T) []any
	// Typed reports whether an error is one for arguments that are missing.
	Typed func(error) bool
	// Optional are arguments that may be nil, as "Func 0": a name and an index.
	Optional []string
	// Except are functions and methods that are not called.
	Except []string
}

// Run calls all functions and methods with all arguments zero, and with each one zero in turn, where it is the number of something also
// with one that nothing has, and where it is an interface with a nil pointer in it. None may panic. Where
// one argument alone is a nil pointer, interface, function or map, the error that the function returns must be Typed.
func Run(t *testing.T, c Calls) {
	t.Helper()
	for _, name := range exported(t) {
		if _, ok := c.Funcs[name]; !ok && !slices.Contains(c.Except, name) {
			t.Errorf("%s is exported and not among the functions to call", name)
		}
	}
	for name, f := range c.Funcs {
		c.each(t, name, func(*testing.T) reflect.Value { return reflect.ValueOf(f) })
	}
	for _, of := range c.Receivers {
		typ := reflect.TypeOf(of(t))
		for i := range typ.NumMethod() {
			name := strings.TrimLeft(typ.String(), "*") + "." + typ.Method(i).Name
			c.each(t, name, func(t *testing.T) reflect.Value { return reflect.ValueOf(of(t)).Method(i) })
		}
	}
}

// each calls one function with arguments left out in every way.
func (c *Calls) each(t *testing.T, name string, f func(*testing.T) reflect.Value) {
	if slices.Contains(c.Except, name) {
		return
	}
	t.Run(name, func(t *testing.T) {
		typ := f(t).Type()
		c.call(t, name, f(t), func(_ int, of reflect.Type) (reflect.Value, bool) { return reflect.Zero(of), true })
		for i := range params(typ) {
			instead := func(v reflect.Value) func(int, reflect.Type) (reflect.Value, bool) {
				return func(at int, _ reflect.Type) (reflect.Value, bool) { return v, at == i }
			}
			for _, n := range append(numbers(typ.In(i)), c.pointers(t, typ.In(i))...) {
				c.call(t, name, f(t), instead(n))
			}
			err := c.call(t, name, f(t), instead(reflect.Zero(typ.In(i))))
			if c.demanded(typ, i, name) && (err == nil || !c.Typed(err)) {
				t.Errorf("without argument %d (%v): %v, of type %T", i, typ.In(i), err, err)
			}
		}
	})
}

// numbers are values of a type that numbers things, which nothing has.
func numbers(t reflect.Type) []reflect.Value {
	if t.Kind() != reflect.Int32 || t.PkgPath() == "" {
		return nil
	}
	return []reflect.Value{reflect.ValueOf(int32(-1)).Convert(t), reflect.ValueOf(int32(1 << 20)).Convert(t)}
}

// pointers are the nil pointers of the types in the pool, as values of an interface.
func (c *Calls) pointers(t *testing.T, of reflect.Type) (list []reflect.Value) {
	if of.Kind() != reflect.Interface || of.NumMethod() == 0 {
		return nil
	}
	for _, v := range c.Pool(t) {
		if typ := reflect.TypeOf(v); typ.Kind() == reflect.Pointer && typ.AssignableTo(of) {
			list = append(list, reflect.Zero(typ))
		}
	}
	return list
}

// params is how many arguments are passed: none for a variadic one.
func params(f reflect.Type) int {
	if f.IsVariadic() {
		return f.NumIn() - 1
	}
	return f.NumIn()
}

// demanded reports whether the function must return an error when an argument is nil.
func (c *Calls) demanded(f reflect.Type, i int, name string) bool {
	n := f.NumOut()
	return n > 0 && f.Out(n-1) == reflect.TypeFor[error]() && nillable(f.In(i)) &&
		!slices.Contains(c.Optional, fmt.Sprintf("%s %d", name, i))
}

func nillable(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Pointer, reflect.Interface, reflect.Func, reflect.Map:
		return true
	}
	return false
}

// call returns the error of f. The function instead returns what to pass for an argument, and whether to. A panic is an error of the test.
func (c *Calls) call(t *testing.T, name string, f reflect.Value, instead func(int, reflect.Type) (reflect.Value, bool)) (err error) {
	var text []string
	defer func() {
		if p := recover(); p != nil {
			t.Errorf("%s(%s) panics: %v", name, strings.Join(text, ", "), p)
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	pool := c.Pool(t)
	var args []reflect.Value
	for i := range params(f.Type()) {
		arg, ok := instead(i, f.Type().In(i))
		if !ok {
			arg = pick(pool, f.Type().In(i))
		}
		text = append(text, fmt.Sprintf("%v zero=%v", arg.Type(), arg.IsZero()))
		args = append(args, arg)
	}
	results := f.Call(args)
	if n := len(results); n > 0 {
		err, _ = results[n-1].Interface().(error)
	}
	return err
}

// pick returns the first value of the pool that can be passed as a type.
func pick(pool []any, t reflect.Type) reflect.Value {
	for _, v := range pool {
		if reflect.TypeOf(v).AssignableTo(t) && (t.Kind() != reflect.Interface || t.NumMethod() > 0) {
			arg := reflect.New(t).Elem()
			arg.Set(reflect.ValueOf(v))
			return arg
		}
	}
	return reflect.Zero(t)
}

// exported lists the exported functions with arguments of the package in the working directory.
func exported(t *testing.T) (names []string) {
	t.Helper()
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil && fn.Name.IsExported() && fn.Type.Params.NumFields() > 0 {
				names = append(names, fn.Name.Name)
			}
		}
	}
	return names
}
