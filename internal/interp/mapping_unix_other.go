//go:build unix && !linux

package interp

// noReserve exists only on Linux; other systems do not reserve swap space in advance.
const noReserve = 0
