package interp

import "syscall"

// noReserve lets a program allocate more device memory than the host has, as long as it
// does not touch it.
const noReserve = syscall.MAP_NORESERVE
