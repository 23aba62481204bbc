package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/reprise-gpu/reprise/internal/sharing"
	"github.com/reprise-gpu/reprise/internal/sharing/wire"
)

func newSharePing() *cobra.Command {
	var socket, path string
	var n, class int
	c := &cobra.Command{
		Use:   "ping --socket PATH",
		Short: "Measure how long a server takes to grant",
		Long: `Ping connects to the server at a socket as a program with one unit that takes no time, and
submits it again and again. The time of a grant is from the submission until the grant has
arrived. Other programs at the server run meanwhile, and those of smaller classes wait for it.`,
		Example: `  reprise share ping --socket share.sock -n 10000`,
		Args:    noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			switch {
			case socket == "":
				return usagef("--socket is missing: write the path of the server's socket")
			case n < 1 || n > maxPings:
				return usagef("-n %d: a number from 1 to %d is needed", n, maxPings)
			case class < 0 || class >= sharing.Classes:
				return usagef("--class %d: a number from 0 to %d is needed", class, sharing.Classes-1)
			}
			return ping(c, socket, path, n, class)
		},
	}
	c.Flags().StringVar(&socket, "socket", "", "`PATH` of the server's socket")
	c.Flags().IntVarP(&n, "number", "n", 10000, "grants to measure")
	c.Flags().IntVar(&class, "class", sharing.Classes-1, "class of the program, 0 to 9")
	jsonFlag(c, &path, "the times")
	return c
}

const maxPings = 10_000_000

// ping measures n grants and prints quantiles. After an interrupt, it prints those of the grants so far.
func ping(c *cobra.Command, socket, path string, n, class int) error {
	ctx, stop := interruptible(c.Context())
	defer stop()
	p, err := wire.Dial(socket)
	if err != nil {
		return err
	}
	defer p.Close()
	if class, err = p.Register("ping", class, []sharing.Stage{{Units: make([]sharing.Unit, 1)}}); err != nil {
		return err
	}
	defer context.AfterFunc(ctx, func() { p.Close() })()
	times := make([]time.Duration, 0, n)
	for len(times) < n && err == nil {
		var took time.Duration
		if took, err = pingOnce(p); err == nil {
			times = append(times, took)
		}
	}
	if ctx.Err() != nil {
		err = withProgress(context.Cause(ctx), "after %d of %d grants", len(times), n)
	}
	if len(times) > 0 {
		slices.Sort(times)
		at := func(q float64) float64 { return float64(times[int(q*float64(len(times)-1))].Nanoseconds()) / 1000 }
		r := pingRecord{len(times), p.Policy(), class, at(0.5), at(0.9), at(0.99), at(1)}
		err = errors.Join(err, writeResults(c.OutOrStdout(), path, r, r.write))
	}
	return err
}

// pingRecord is what ping measures. Times are of the host.
type pingRecord struct {
	Grants int     `json:"grants"`
	Policy string  `json:"policy"`
	Class  int     `json:"class"`
	P50US  float64 `json:"p50_us"`
	P90US  float64 `json:"p90_us"`
	P99US  float64 `json:"p99_us"`
	MaxUS  float64 `json:"max_us"`
}

func (r pingRecord) write(w io.Writer) error {
	_, err := fmt.Fprintf(w, "%d grants of policy %s to class %d: p50 %.1f us, p90 %.1f us, p99 %.1f us, greatest %.1f us\n",
		r.Grants, r.Policy, r.Class, r.P50US, r.P90US, r.P99US, r.MaxUS)
	return err
}

// pingOnce submits a stage and returns how long its grant took.
func pingOnce(p *wire.Client) (took time.Duration, err error) {
	start := time.Now()
	if err := p.Arrive(0); err != nil {
		return 0, err
	}
	if _, err := p.Receive(); err != nil {
		return 0, err
	}
	took = time.Since(start)
	if err := p.Completed(); err != nil {
		return 0, err
	}
	_, err = p.Receive()
	return took, err
}
