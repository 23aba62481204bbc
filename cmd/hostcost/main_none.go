//go:build !cuda || !cgo

package main

import (
	"fmt"
	"os"
)

func main() {
	fmt.Fprintln(os.Stderr, "hostcost measures package cuda, and was built without it: run make bench-host")
	os.Exit(1)
}
