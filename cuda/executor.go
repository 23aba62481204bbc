//go:build cuda

package cuda

import (
	"runtime"

	"gorgonia.org/cu"
)

// executor is a goroutine that keeps an OS thread with a context current on it. The
// functions of gorgonia.org/cu act on the current context of the thread they are
// called on, so they are called here.
type executor struct {
	work chan func()
	done chan *panicked // nil when the function returned
}

// panicked is a panic on its way to the goroutine that asked for the work.
type panicked struct{ value any }

func newExecutor() *executor {
	x := &executor{work: make(chan func()), done: make(chan *panicked)}
	go x.loop()
	return x
}

func (x *executor) loop() {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	for f := range x.work {
		x.done <- try(f)
	}
	_ = cu.SetCurrentContext(cu.CUContext{}) // the thread goes back to the pool
}

func try(f func()) (p *panicked) {
	defer func() {
		if v := recover(); v != nil {
			p = &panicked{v}
		}
	}()
	f()
	return nil
}

// do runs f on the executor's thread. One goroutine may call it at a time. A panic
// in f is the caller's.
func (x *executor) do(f func() error) error {
	var err error
	x.work <- func() { err = f() }
	if p := <-x.done; p != nil {
		panic(p.value)
	}
	return err
}

func (x *executor) stop() { close(x.work) }
