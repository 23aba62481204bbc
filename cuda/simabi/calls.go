//go:build cuda

package simabi

import "C"

// sim_repriseCalls is how many calls of driver functions were made; see reprise.h.
//
//export sim_repriseCalls
func sim_repriseCalls() C.ulonglong { return C.ulonglong(driver.calls.Load()) }
