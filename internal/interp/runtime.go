package interp

import (
	_ "embed"
	"sync"

	"github.com/reprise-gpu/reprise/internal/ptx"
)

//go:embed runtime.ptx
var runtimeText string

// runtimeFunctions are functions of the device runtime that are programs themselves, by name. A module that
// declares one and has no body for it gets this one. They are shared: nothing changes a function that was parsed.
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
