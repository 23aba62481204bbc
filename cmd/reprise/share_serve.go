package main

import (
	"context"
	"fmt"
	"io/fs"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/reprise-gpu/reprise/internal/bounded"
	"github.com/reprise-gpu/reprise/internal/sharing"
	"github.com/reprise-gpu/reprise/internal/sharing/wire"
)

// serveFlags are the flags of share serve as given.
type serveFlags struct {
	socket  string
	policy  string
	config  string
	mode    string
	lease   time.Duration
	piece   time.Duration
	depth   int
	clients int
}

func newShareServe() *cobra.Command {
	var f serveFlags
	c := &cobra.Command{
		Use:   "serve --socket PATH",
		Short: "Decide which program of several processes uses the device next",
		Long: `Serve is the scheduler of programs in several processes, which share one device. It opens no
device: programs connect to its socket with share.Dial, report when they have work and when it
has ended, and run what the policy grants them. SIGINT or SIGTERM ends it, with status 0.

Policies:
` + policyHelp + `
A grant has to be completed within ten times its predicted time, and --lease. The time of
other programs does not count. A program that is later loses the device: the others go on,
and it may connect again. The grants of a process that has died end with --lease.

A program states its class from 0 to 9, and the greatest is 9. Each line of --config is the
greatest class of programs that meet its conditions, of which the first line counts:

  9 uid=1000 name=detector*
  4 uid=1000
  0

Without a line for them, programs of the user who runs the server may have class 9, and those
of other users 4. Programs state their names themselves; only the user is certain.`,
		Example: `  reprise share serve --socket /run/user/1000/share.sock
  reprise share serve --socket share.sock --policy fill --piece 50us --depth 1 --config classes.txt`,
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error { return f.run(c) },
	}
	c.Flags().StringVar(&f.socket, "socket", "", "`PATH` of the socket")
	c.Flags().StringVar(&f.policy, "policy", "fill", "which program runs next, as listed above")
	c.Flags().StringVar(&f.config, "config", "", "`FILE` with the greatest classes of programs")
	c.Flags().StringVar(&f.mode, "mode", "0600", "permissions of the socket, in octal: who may write to it may connect")
	c.Flags().DurationVar(&f.lease, "lease", 100*time.Millisecond, "time after which a program that hangs or has died loses its grants")
	c.Flags().DurationVar(&f.piece, "piece", 100*time.Microsecond, "for policy fill: greatest time of a piece of another program")
	c.Flags().IntVar(&f.depth, "depth", 2, "for policy fill: pieces in flight")
	c.Flags().IntVar(&f.clients, "clients", 64, "greatest number of programs")
	completePolicy(c)
	return c
}

// completePolicy completes the names of policies in shells.
func completePolicy(c *cobra.Command) {
	err := c.RegisterFlagCompletionFunc("policy", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return sharing.Names(), cobra.ShellCompDirectiveNoFileComp
	})
	if err != nil {
		panic("BUG: " + err.Error())
	}
}

func (f *serveFlags) run(c *cobra.Command) error {
	o, err := f.options()
	if err != nil {
		return err
	}
	o.Log = func(format string, args ...any) {
		fmt.Fprintf(c.ErrOrStderr(), "reprise: "+format+"\n", args...)
	}
	ctx, stop := interruptible(c.Context())
	defer stop()
	s, err := wire.Serve(f.socket, o)
	if err != nil {
		return err
	}
	defer context.AfterFunc(ctx, func() { _ = s.Close() })() // Wait has the error
	fmt.Fprintf(c.OutOrStdout(), "policy %s at %s for at most %d programs, lease %v\n", o.Policy.Name(), f.socket, f.clients, f.lease)
	if fill, ok := o.Policy.(*sharing.Fill); ok {
		bound, _ := fill.Bound(sharing.New(fill))
		fmt.Fprintf(c.OutOrStdout(), "bound: a program of the greatest class waits at most %v for others, and for a kernel that is longer and cannot be cut\n", bound)
	}
	return s.Wait()
}

// options checks the flags.
func (f *serveFlags) options() (o wire.Options, err error) {
	switch {
	case f.socket == "":
		return o, usagef("--socket is missing: write the path of the socket")
	case f.lease <= 0 || f.lease > time.Hour:
		return o, usagef("--lease %v: a time from 1ns to 1h is needed", f.lease)
	case f.piece <= 0 || f.piece > time.Minute:
		return o, usagef("--piece %v: a time from 1ns to 1m is needed", f.piece)
	case f.depth < 1 || f.depth > 64:
		return o, usagef("--depth %d: a number from 1 to 64 is needed", f.depth)
	case f.clients < 1 || f.clients > 1024:
		return o, usagef("--clients %d: a number from 1 to 1024 is needed", f.clients)
	}
	mode, err := strconv.ParseUint(f.mode, 8, 32)
	if err != nil || mode > 0o777 {
		return o, usagef("--mode %s: write the permissions in octal, as in 0660", f.mode)
	}
	if o.Policy, err = parsePolicy(f.policy); err != nil {
		return o, err
	}
	if o.Policy.Form().Stops {
		return o, usagef("--policy %s: a flag stops programs of the same process only: use fill", f.policy)
	}
	if fill, ok := o.Policy.(*sharing.Fill); ok {
		fill.Piece, fill.Depth = f.piece, f.depth
		fill.Unit = min(fill.Unit, fill.Piece)
	}
	o.Mode, o.Lease, o.Limits.Clients = fs.FileMode(mode), f.lease, f.clients
	if f.config == "" {
		return o, nil
	}
	text, err := bounded.ReadFile(f.config, maxConfig)
	if err != nil {
		return o, fmt.Errorf("--config: %w", err)
	}
	o.Caps, err = wire.ReadCaps(f.config, string(text))
	return o, err
}

// maxConfig bounds the file of classes, in bytes.
const maxConfig = 1 << 20
