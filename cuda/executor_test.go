//go:build cuda && cgo

package cuda

import (
	"errors"
	"runtime"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestExecutorKeepsItsThread(t *testing.T) {
	x := newExecutor()
	defer x.stop()
	thread := func() (id int) {
		_ = x.do(func() error { id = syscall.Gettid(); return nil })
		return id
	}
	first := thread()
	for range 100 {
		runtime.Gosched()
		assert.Equal(t, first, thread())
	}
}

func TestExecutorHandsPanicsToTheCaller(t *testing.T) {
	x := newExecutor()
	defer x.stop()
	assert.PanicsWithValue(t, "boom", func() { _ = x.do(func() error { panic("boom") }) })
	assert.EqualError(t, x.do(func() error { return errors.New("still there") }), "still there")
}

// BenchmarkHandOver shows why replays do not go through the executor. "executor" measures a call through the executor,
// "direct" a call into C from the goroutine itself.
func BenchmarkHandOver(b *testing.B) {
	b.Run("executor", func(b *testing.B) {
		x := newExecutor()
		defer x.stop()
		f := func() error { inHostCall(); return nil }
		for b.Loop() {
			_ = x.do(f)
		}
	})
	b.Run("direct", func(b *testing.B) {
		for b.Loop() {
			inHostCall()
		}
	})
}
