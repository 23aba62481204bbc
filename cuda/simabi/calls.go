//go:build cuda && cgo

package simabi

import "C"

// sim_repriseCalls returns the number of calls of driver functions; see reprise.h.
//
//export sim_repriseCalls
func sim_repriseCalls() C.ulonglong { return C.ulonglong(driver.calls.Load()) }
