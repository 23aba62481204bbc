//go:build race

package graphexec_test

// slowdown is how much longer a kernel takes under the race detector.
const slowdown = 8
