package main

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/reprise-gpu/reprise/internal/devices"
	"github.com/reprise-gpu/reprise/internal/profiles"
)

func newProfile() *cobra.Command {
	return &cobra.Command{
		Use:   "profile PROFILE",
		Short: "Print a device profile as a file to edit",
		Long: `Profile prints the device profile of that name, or the one in a file, in the form
that --device sim:FILE.json reads: every figure with its unit, its value and its source.
docs/PROFILE.md describes the form. An invalid file is an error that names the line.`,
		Example: `  reprise profile h200 > mine.json
  reprise bench vec --device sim:mine.json`,
		Args: oneArg("profile"),
		RunE: func(c *cobra.Command, args []string) error {
			f, err := lookupFile(strings.TrimPrefix(args[0], "sim:"))
			if err != nil {
				return err
			}
			_, err = c.OutOrStdout().Write(f.Text())
			return err
		},
	}
}

// lookupFile reads the profile file at a path, or returns the built-in profile of that name as a file.
func lookupFile(name string) (*profiles.File, error) {
	f, err := devices.File(name)
	return f, asUsage(err)
}
