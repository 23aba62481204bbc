// Benchmpi measures the latency of exchanges between ranks through MPI. mpirun starts it:
//
//	make bench-mpi
//
// Each line is one kind of exchange. A sample is the mean of a number of runs; the line gives the smallest sample, the
// median and the 90th percentile, in microseconds, on rank 0.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/reprise-gpu/reprise/internal/transport"
	"github.com/reprise-gpu/reprise/internal/transport/mpi"
)

func main() {
	samples := flag.Int("samples", 50, "number of samples of each line")
	funneled := flag.Bool("funneled", false, "let one thread make all calls of MPI")
	flag.Parse()
	if err := measure(*samples, *funneled); err != nil {
		fmt.Fprintln(os.Stderr, "benchmpi:", err)
		os.Exit(1)
	}
}

func measure(samples int, funneled bool) error {
	ctx := context.Background()
	t, err := mpi.Open(ctx, mpi.Options{Funneled: funneled})
	if err != nil {
		return err
	}
	if t.Rank() == 0 {
		fmt.Printf("%d ranks, any thread %v: microseconds (smallest, median and 90th percentile of %d samples)\n", t.Size(), !funneled, samples)
	}
	if err := exchange(ctx, t, "no message", samples, 1000, nil); err != nil {
		return err
	}
	for _, size := range []int{8, 4096, 1 << 16, 1 << 20} {
		if err := halo(ctx, t, samples, size); err != nil {
			return err
		}
	}
	for _, size := range []int{8, 1024} {
		name := fmt.Sprintf("gather of %d bytes", size)
		mine := make([]byte, size)
		err := line(t, name, samples, 200, func() error {
			_, err := t.Gather(ctx, mine)
			return err
		})
		if err != nil {
			return err
		}
	}
	return t.Close()
}

// halo measures one message of size bytes to each neighbour on a ring and one from each.
func halo(ctx context.Context, t transport.Transport, samples, size int) error {
	next, previous := (t.Rank()+1)%t.Size(), (t.Rank()+t.Size()-1)%t.Size()
	bytes := func() []byte { return make([]byte, size) }
	messages := []transport.Message{
		{Peer: next, Tag: 0, Send: true, Bytes: bytes()}, {Peer: previous, Tag: 1, Send: true, Bytes: bytes()},
		{Peer: previous, Tag: 0, Bytes: bytes()}, {Peer: next, Tag: 1, Bytes: bytes()}}
	return exchange(ctx, t, fmt.Sprintf("halo of 2 x %d bytes", size), samples, max(20, 1000_000/(size+1000)), messages)
}

// exchange measures runs of an exchange.
func exchange(ctx context.Context, t transport.Transport, name string, samples, runs int, messages []transport.Message) error {
	e, err := t.Freeze(messages)
	if err != nil {
		return err
	}
	if err := line(t, name, samples, runs, func() error { return e.Run(ctx) }); err != nil {
		return err
	}
	return e.Close()
}

// line measures a call and prints a line on rank 0. All ranks make the same number of calls.
func line(t transport.Transport, name string, samples, runs int, call func() error) error {
	times := make([]float64, samples+1)
	for i := range times {
		began := time.Now()
		for range runs {
			if err := call(); err != nil {
				return err
			}
		}
		times[i] = time.Since(began).Seconds() * 1e6 / float64(runs)
	}
	times = times[1:] // the first one warms up
	slices.Sort(times)
	if t.Rank() == 0 {
		fmt.Printf("  %-24s %8.2f %8.2f %8.2f\n", name, times[0], times[samples/2], times[samples*9/10])
	}
	return nil
}
