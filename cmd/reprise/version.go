package main

import (
	"fmt"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/reprise-gpu/reprise/internal/bench"
	"github.com/reprise-gpu/reprise/internal/release"
)

func newVersion() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version, the commit and the Go release",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			_, err := fmt.Fprintf(c.OutOrStdout(), "reprise %s, commit %s, %s %s/%s\n",
				release.Version, bench.Commit(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
			return err
		},
	}
}
