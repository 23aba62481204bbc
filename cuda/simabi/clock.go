//go:build cuda && cgo

package simabi

import "C"

import (
	"math"
	"time"
)

// sim_repriseNow returns the virtual time of the host in ns; see reprise.h.
//
//export sim_repriseNow
func sim_repriseNow() C.ulonglong {
	driver.mu.Lock()
	defer driver.mu.Unlock()
	if !driver.ready {
		return 0
	}
	return C.ulonglong(driver.system.Now())
}

// sim_repriseWaitUntil advances the virtual time of the host; see reprise.h.
//
//export sim_repriseWaitUntil
func sim_repriseWaitUntil(ns C.ulonglong) {
	driver.mu.Lock()
	defer driver.mu.Unlock()
	if driver.ready {
		driver.system.WaitUntil(time.Duration(min(ns, math.MaxInt64)))
	}
}
