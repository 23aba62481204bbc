// Reprise traces GPU work once, plans it and replays it many times. This is the
// command-line tool: it runs benchmarks, plans saved traces, solves linear systems, and inspects kernels.
package main

import "os"

func main() {
	endAtSignals(os.Stderr)
	os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
