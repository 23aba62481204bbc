//go:build cuda && cgo

package simabi

import (
	"bytes"
	"fmt"
	"os"
	"runtime"
	"syscall"
	"time"
)

// Virtual time advances only when a call waits for the device. A program can also observe work without a call: a host
// function or callback runs while the program sleeps, or memory changes while the program polls it. While such work is
// pending, a goroutine watches the program and advances virtual time if one of three times exceeds its limit:
//
//	time     measured while                                 host functions   stores
//	asleep   no call is made and all other threads sleep    10 ms            200 ms
//	quiet    no call is made                                200 ms           2 s
//	due      a host function is due and none has run        1 s              1 h
//
// For host functions, virtual time advances to the next one (System.Idle). For stores, it advances to the end of all
// work (System.Finish).
//
// Virtual times depend on the program's work between its calls only if the program stops
// making calls, or waiting, while such work is pending. A thread that waits for a processor does not
// count as sleeping, so the times are the same on a busy machine.
const (
	fastPoll  = 5 * time.Millisecond  // time between two checks
	slowPoll  = 50 * time.Millisecond // the same if no call was made for slowAfter, or if only stores are pending
	slowAfter = 2 * time.Second
)

// idleTimes are the measured times, or limits of them.
type idleTimes struct{ asleep, quiet, due time.Duration }

var (
	functionLimits = idleTimes{asleep: 2 * fastPoll, quiet: 200 * time.Millisecond, due: time.Second}
	// storeLimits are so long that a program which computes or reads a file briefly, and then enqueues more work, has
	// the same virtual times in every run.
	storeLimits = idleTimes{asleep: 200 * time.Millisecond, quiet: 2 * time.Second, due: time.Hour}
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
	for pause := fastPoll; pause > 0; pause = w.look(pause) {
		time.Sleep(pause)
	}
}

// watcher measures how long the program has made no call, how long it has slept,
// and how long a host function has been due.
type watcher struct {
	attended, noticed uint64 // counters of calls and of host functions at the last check
	spent             idleTimes
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
	case functions && w.spent.exceeds(functionLimits):
		driver.system.Idle()
	case stores && w.spent.exceeds(storeLimits):
		driver.system.Finish()
	}
	if !functions || w.spent.quiet > slowAfter {
		return slowPoll
	}
	return fastPoll
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

// exceeds reports whether one of the times reaches its limit.
func (p idleTimes) exceeds(limit idleTimes) bool {
	return p.asleep >= limit.asleep || p.quiet >= limit.quiet || p.due >= limit.due
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
