package model

// Time is virtual time in picoseconds.
type Time int64

const (
	Nanosecond  Time = 1000
	Microsecond      = 1000 * Nanosecond
	Second           = 1000 * 1000 * Microsecond
)
