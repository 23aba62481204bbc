package main

import "github.com/spf13/cobra"

// newShare returns the command share, with its subcommands.
func newShare() *cobra.Command {
	c := newShareRun()
	c.AddCommand(newShareServe(), newSharePing())
	return c
}
