//go:build !race

package graphexec_test

const slowdown = 1
