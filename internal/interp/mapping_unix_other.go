//go:build unix && !linux

package interp

const noReserve = 0
