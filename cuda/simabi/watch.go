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

// Host functions and callbacks run while the program sleeps, too: work that the program may
// notice without a call is watched. When the program makes no call and all its threads
// sleep, or it makes none for long, the host's time passes up to that work.
//
// So virtual times depend on what the program does between its calls only where it stops
// to make calls while such work is under way. A thread that waits for a processor does not
// sleep: on a busy machine the times are the same.
const (
	watchEvery  = 5 * time.Millisecond
	sleepsAfter = 2  // looks at which all threads sleep
	idlesAfter  = 40 // looks without a call
)

// watchNotices starts a watch, unless there is one or nothing to notice.
func watchNotices() {
	if !driver.watched && driver.system.Noticeable() {
		driver.watched = true
		go watch()
	}
}

// watch looks at the program until nothing is noticeable any more.
func watch() {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var w watcher
	for {
		time.Sleep(watchEvery)
		if !w.look() {
			return
		}
	}
}

// watcher counts looks at the program since its last call.
type watcher struct {
	attended       uint64
	idle, sleeping int
}

// look lets time pass if the program is idle, and reports whether to look again.
func (w *watcher) look() bool {
	asleep := othersSleep()
	driver.mu.Lock()
	defer driver.mu.Unlock()
	if !driver.ready || !driver.system.Noticeable() {
		driver.watched = false
		return false
	}
	w.idle++
	w.sleeping++
	if w.attended != driver.attended {
		*w = watcher{attended: driver.attended}
	}
	if !asleep {
		w.sleeping = 0
	}
	if w.sleeping >= sleepsAfter || w.idle >= idlesAfter {
		driver.system.Idle()
	}
	return true
}

// othersSleep reports whether all threads of the process but the calling one sleep, as far
// as the system tells.
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
