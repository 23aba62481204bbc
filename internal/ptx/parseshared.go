package ptx

import (
	"runtime"
	"sync"
	"weak"
)

// source identifies a module: the errors and positions of the same text differ with the name of the file.
type source struct{ file, text string }

// inUse holds the modules that ParseShared has returned. A weak pointer keeps none alive.
var inUse struct {
	sync.Mutex
	modules map[source]weak.Pointer[Module]
}

// ParseShared is Parse for callers that do not change the module. They get the same one as others that still hold it: a tracer
// and the simulated device both parse each module of a program, and a program may record it many times.
func ParseShared(file, src string) (*Module, error) {
	key := source{file, src}
	if m := held(key); m != nil {
		return m, nil
	}
	m, err := Parse(file, src)
	if err != nil {
		return nil, err
	}
	inUse.Lock()
	defer inUse.Unlock()
	if inUse.modules == nil {
		inUse.modules = map[source]weak.Pointer[Module]{}
	}
	inUse.modules[key] = weak.Make(m)
	runtime.AddCleanup(m, forget, key)
	return m, nil
}

// held returns the module of a source if someone holds it.
func held(key source) *Module {
	inUse.Lock()
	defer inUse.Unlock()
	return inUse.modules[key].Value()
}

// forget removes a module that nobody holds, unless another of the same source has taken its place.
func forget(key source) {
	inUse.Lock()
	defer inUse.Unlock()
	if inUse.modules[key].Value() == nil {
		delete(inUse.modules, key)
	}
}
