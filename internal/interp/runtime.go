package interp

import (
	_ "embed"
	"sync"

	"github.com/reprise-gpu/reprise/internal/ptx"
)

//go:embed runtime.ptx
var runtimeText string

// runtimeFunctions are the functions of the device runtime that are written in PTX, by
// name. A module that declares one without a body gets this one. They are shared: a
// parsed function is never modified.
var runtimeFunctions = sync.OnceValue(func() map[string]*ptx.Func {
	m, err := ptx.Parse("runtime.ptx", runtimeText)
	if err != nil {
		panic("BUG: the device runtime does not parse: " + err.Error())
	}
	functions := map[string]*ptx.Func{}
	for _, f := range m.Funcs {
		functions[f.Name] = f
	}
	return functions
})
