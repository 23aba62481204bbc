//go:build cuda

package simabi

import (
	"fmt"
	"os"
)

// explain says on standard error what a code cannot: which thread of which kernel,
// what address. Only when $REPRISE_SIM_VERBOSE is set: a driver is silent.
func explain(err error) {
	if os.Getenv("REPRISE_SIM_VERBOSE") != "" {
		fmt.Fprintln(os.Stderr, "libcudasim:", err)
	}
}
