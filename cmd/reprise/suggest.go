package main

import (
	"errors"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/reprise-gpu/reprise/internal/phrase"
)

// noCommand requires that a command with commands of its own has no arguments: the first one is a misspelt command.
func noCommand(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	var names []string
	for _, sub := range c.Commands() {
		if sub.IsAvailableCommand() {
			names = append(names, sub.Name())
		}
	}
	return usagef("unknown command %q for %q%s (see %s --help)", args[0], c.CommandPath(), phrase.DidYouMean(args[0], names), c.CommandPath())
}

// noArgs requires that there are no arguments.
func noArgs(c *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usagef("%s takes no arguments, and %q is given (see %[1]s --help)", c.CommandPath(), args[0])
	}
	return nil
}

// similarFlag returns the clause that suggests a flag, if err is about one that does not exist.
func similarFlag(c *cobra.Command, err error) string {
	var unknown *pflag.NotExistError
	if !errors.As(err, &unknown) {
		return ""
	}
	var names []string
	c.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, "--"+f.Name) })
	return phrase.DidYouMean("--"+unknown.GetSpecifiedName(), names)
}
