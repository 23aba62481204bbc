package interp

import "syscall"

// noReserve allows a program to allocate more device memory than the host has, if it
// does not touch it.
const noReserve = syscall.MAP_NORESERVE
