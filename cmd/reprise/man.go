package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"github.com/reprise-gpu/reprise/internal/release"
)

// newMan returns the command with which packages of distributions are built. It is hidden: users read --help, or the pages.
func newMan() *cobra.Command {
	return &cobra.Command{
		Use:    "man DIR",
		Short:  "Write the manual pages of all commands into a folder",
		Long:   `Man writes a page in section 1 for each command. $SOURCE_DATE_EPOCH, if set, is their date.`,
		Hidden: true,
		Args:   oneArg("folder"),
		RunE: func(c *cobra.Command, args []string) error {
			if err := os.MkdirAll(args[0], 0o755); err != nil {
				return fmt.Errorf("manual pages: %w", err)
			}
			c.Root().DisableAutoGenTag = true
			return doc.GenManTree(c.Root(), &doc.GenManHeader{Title: "REPRISE", Section: "1", Source: "reprise " + release.Version, Manual: "Reprise"}, args[0])
		},
	}
}
