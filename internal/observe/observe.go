// Package observe connects this module to the tools of Go that watch a running program: log/slog, runtime/trace and the labels
// of runtime/pprof. Without a logger and without an execution trace, it costs a load of a variable.
package observe

import (
	"context"
	"log/slog"
	"runtime/pprof"
	"runtime/trace"
	"sync/atomic"

	"github.com/reprise-gpu/reprise/internal/beside"
)

// Names of regions in execution traces, and values of the label "reprise" in profiles.
const (
	Record      = "reprise: record"
	Plan        = "reprise: plan"
	Instantiate = "reprise: instantiate"
	Replay      = "reprise: replay"
)

var logger atomic.Pointer[slog.Logger]

// SetLogger sets the logger of the module. Nil is silent.
func SetLogger(l *slog.Logger) { logger.Store(l) }

// Log writes a record of a decision if there is a logger. The attributes are computed only then.
func Log(message string, attributes func() []slog.Attr) {
	l := logger.Load()
	if l == nil || !l.Enabled(context.Background(), slog.LevelInfo) {
		return
	}
	l.LogAttrs(context.Background(), slog.LevelInfo, message, attributes()...)
}

// Task begins a task of the execution trace, if one is being written. Unlike a region, it may end on another goroutine.
func Task(name string) (end func()) {
	if !trace.IsEnabled() {
		return func() {}
	}
	_, task := trace.NewTask(context.Background(), name)
	return task.End
}

// Region runs f as a region of the execution trace.
func Region(name string, f func()) { trace.WithRegion(context.Background(), name, f) }

// Labelled runs f as a region on a goroutine of its own, and waits for it. In profiles, the goroutine has the labels "reprise",
// which is the name of the region, and "program". The labels of the caller remain as they are, which is why f does not run
// on its goroutine: there, they could be replaced and not be restored.
func Labelled(name, program string, f func()) {
	run := beside.Start(func() {
		pprof.Do(context.Background(), pprof.Labels("reprise", name, "program", program), func(context.Context) { Region(name, f) })
	})
	<-run.Ended()
	run.Rethrow()
}
