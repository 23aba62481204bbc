// Reprise traces GPU work once, plans it and replays it many times. This is its
// command-line tool: benchmarks, saved traces, and a look into kernels.
package main

import "os"

func main() {
	endAtSignals(os.Stderr)
	os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
