//go:build cuda

package simabi

import (
	"bytes"
	"fmt"
	"os"
	"runtime"
	"syscall"
	"time"
)

// Host functions and callbacks run while the program sleeps, too, and memory that the host reads changes while it polls
// that: work that the program may notice without a call is watched. The host's time passes up to that work when the
// program makes no call and all its threads sleep, when it makes none for long, and when host functions have been due for
// long whatever it calls.
//
// So virtual times depend on what the program does between its calls only where it stops
// to make calls, or to wait, while such work is under way. A thread that waits for a processor does not
// sleep: on a busy machine the times are the same.
const (
	quickly = 5 * time.Millisecond  // between two looks
	slowly  = 50 * time.Millisecond // where nothing has happened for tiring, or only stores are awaited
	tiring  = 2 * time.Second
)

// patience is how long the watch goes on before time passes.
type patience struct{ asleep, quiet, due time.Duration }

var (
	forFunctions = patience{asleep: 2 * quickly, quiet: 200 * time.Millisecond, due: time.Second}
	// A program that computes or reads a file for a moment, and enqueues more, is to have the same times every time.
	forStores = patience{asleep: 200 * time.Millisecond, quiet: 2 * time.Second, due: time.Hour}
)

// watchNotices starts a watch, unless there is one or nothing to notice.
func watchNotices() {
	if driver.watched {
		return
	}
	if functions, stores := pending(); functions || stores {
		driver.watched = true
		go watch()
	}
}

// pending reports whether functions are to be called, and whether there are stores that the program may see.
func pending() (functions, stores bool) {
	if !driver.ready {
		return false, false
	}
	return driver.system.Noticeable(), driver.system.Visible()
}

// watch looks at the program until nothing is noticeable any more.
func watch() {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var w watcher
	for pause := quickly; pause > 0; pause = w.look(pause) {
		time.Sleep(pause)
	}
}

// watcher counts for how long the program has not made a call, has slept, and has had no function called that was due.
type watcher struct {
	attended, noticed uint64
	spent             patience
}

// look lets time pass if the program is idle. It returns how long to pause before the next look, 0 when there is none.
func (w *watcher) look(paused time.Duration) time.Duration {
	asleep := othersSleep()
	driver.mu.Lock()
	defer driver.mu.Unlock()
	functions, stores := pending()
	if !functions && !stores {
		driver.watched = false
		return 0
	}
	w.spend(paused, asleep)
	switch {
	case functions && w.spent.exceeds(forFunctions):
		driver.system.Idle()
	case stores && w.spent.exceeds(forStores):
		driver.system.Finish()
	}
	if !functions || w.spent.quiet > tiring {
		return slowly
	}
	return quickly
}

// spend adds the time since the last look to what it was spent on.
func (w *watcher) spend(paused time.Duration, asleep bool) {
	w.spent.asleep += paused
	w.spent.quiet += paused
	w.spent.due += paused
	if w.attended != driver.attended {
		w.attended, w.spent.asleep, w.spent.quiet = driver.attended, 0, 0
	}
	if !asleep {
		w.spent.asleep = 0
	}
	if n := driver.system.Noticed(); w.noticed != n {
		w.noticed, w.spent.due = n, 0
	}
}

func (p patience) exceeds(most patience) bool {
	return p.asleep >= most.asleep || p.quiet >= most.quiet || p.due >= most.due
}

// othersSleep reports whether all threads of the process but the calling one sleep. It is
// false where the system does not list them.
func othersSleep() bool {
	threads, err := os.ReadDir("/proc/self/task")
	if err != nil {
		return false
	}
	own := fmt.Sprint(syscall.Gettid())
	for _, t := range threads {
		if t.Name() != own && runs(t.Name()) {
			return false
		}
	}
	return true
}

// runs reports whether a thread runs or would if it had a processor.
func runs(thread string) bool {
	stat, err := os.ReadFile("/proc/self/task/" + thread + "/stat")
	if err != nil {
		return false // it has ended
	}
	_, state, _ := bytes.Cut(stat[bytes.LastIndexByte(stat, ')')+1:], []byte(" "))
	return bytes.HasPrefix(state, []byte("R"))
}
