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

// Host functions and callbacks also run while the program sleeps, and memory changes while the host polls
// it. Work that the program can observe without a call is therefore watched. Virtual time advances to that work if the
// program makes no call and all its threads sleep, if it makes none for long, and if host functions have been due for
// long, regardless of calls.
//
// Virtual times depend on the program's work between its calls only if the program stops
// making calls, or waiting, while such work is pending. A thread that waits for a processor does not
// count as sleeping, so the times are the same on a busy machine.
const (
	quickly = 5 * time.Millisecond  // between two checks
	slowly  = 50 * time.Millisecond // if nothing has happened for tiring, or if only stores are pending
	tiring  = 2 * time.Second
)

// patience is the time that the watch waits before it lets virtual time pass.
type patience struct{ asleep, quiet, due time.Duration }

var (
	forFunctions = patience{asleep: 2 * quickly, quiet: 200 * time.Millisecond, due: time.Second}
	// Long enough that a program which computes or reads a file briefly, and then enqueues more work, has the same virtual times in every run.
	forStores = patience{asleep: 200 * time.Millisecond, quiet: 2 * time.Second, due: time.Hour}
)

// watchNotices starts a watch, unless one runs or no observable work is pending.
func watchNotices() {
	if driver.watched {
		return
	}
	if functions, stores := pending(); functions || stores {
		driver.watched = true
		go watch()
	}
}

// pending reports whether host functions are pending, and whether stores that the
// program can observe are.
func pending() (functions, stores bool) {
	if !driver.ready {
		return false, false
	}
	return driver.system.Noticeable(), driver.system.Visible()
}

// watch checks the program until no observable work is pending.
func watch() {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var w watcher
	for pause := quickly; pause > 0; pause = w.look(pause) {
		time.Sleep(pause)
	}
}

// watcher measures how long the program has made no call, how long it has slept,
// and how long a host function has been due.
type watcher struct {
	attended, noticed uint64
	spent             patience
}

// look lets virtual time pass if the program is idle. It returns the pause before
// the next check, or 0 to end the watch.
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

// spend adds the time since the last check to the measured times.
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

// othersSleep reports whether all other threads of the process sleep. It is false
// if the system does not list them.
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

// runs reports whether a thread runs or is ready to run.
func runs(thread string) bool {
	stat, err := os.ReadFile("/proc/self/task/" + thread + "/stat")
	if err != nil {
		return false // the thread has ended
	}
	_, state, _ := bytes.Cut(stat[bytes.LastIndexByte(stat, ')')+1:], []byte(" "))
	return bytes.HasPrefix(state, []byte("R"))
}
