//go:build cuda && cgo

package cuda

import (
	"runtime"

	"gorgonia.org/cu"
)

// executor is a goroutine that keeps an OS thread with a current context. The functions of gorgonia.org/cu act on the
// current context of the calling thread, so they are called here.
type executor struct {
	work chan func()
	done chan *panicked // nil if the function returned normally
}

// panicked carries a panic to the goroutine that called do.
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
	_ = cu.SetCurrentContext(cu.CUContext{}) // the thread returns to the pool
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

// do runs f on the executor's thread. Only one goroutine may call it at a time. A panic in f is repeated in the
// caller.
func (x *executor) do(f func() error) error {
	var err error
	x.work <- func() { err = f() }
	if p := <-x.done; p != nil {
		panic(p.value)
	}
	return err
}

func (x *executor) stop() { close(x.work) }
