package sim

import (
	"fmt"
	"os"
	"sync"
	"testing"

	"github.com/reprise-gpu/reprise/internal/interp"
	"github.com/reprise-gpu/reprise/internal/interp/interptest"
)

// Whatever a test of this package launches is held against the inference, so that
// every kernel that is run here, with all its shapes and sizes, tests it too.
func TestMain(m *testing.M) {
	observe = foretold.check
	code := m.Run()
	fmt.Println("inference:", foretold.Tally)
	os.Exit(code)
}

var foretold oracle

type oracle struct {
	mu sync.Mutex
	interptest.Oracle
}

// check panics about a byte that was touched and not foretold: no test is at hand
// to fail.
func (o *oracle) check(d *Device, j *job, touched *interp.Record) {
	o.mu.Lock()
	defer o.mu.Unlock()
	l := &interptest.Launch{Tree: j.kernel.of.tree, Entry: j.kernel.name, Code: j.kernel.of.code, Memory: d.memory, Launch: j.launch}
	l.Record = touched
	if err := o.Check(l); err != nil {
		panic(err)
	}
}
