package main

import (
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/reprise-gpu/reprise/graphexec"
	"github.com/reprise-gpu/reprise/graphexec/loop"
	"github.com/reprise-gpu/reprise/internal/bench"
	"github.com/reprise-gpu/reprise/internal/machine"
	"github.com/reprise-gpu/reprise/internal/profiles"
	"github.com/reprise-gpu/reprise/internal/sharing"
	"github.com/reprise-gpu/reprise/optimizer"
	"github.com/reprise-gpu/reprise/solver"
)

// flagValues has the values of flags, by the name of the flag, for the completion of command lines in a shell. A value may be
// followed by a tab and its description.
var flagValues = map[string]func() []string{
	"device":   completeDevices,
	"strategy": completeStrategies,
	"backend":  func() []string { return named(graphexec.Backends()) },
	"also":     completePasses,
	"machine":  machine.Names,
	"policy":   sharing.Names,
	"method":   completeMethods,
	"lowering": func() []string {
		return named([]loop.Lowering{loop.Auto, loop.HostChecked, loop.Unrolled, loop.WhileNode})
	},
	"memory": func() []string { return named([]bench.Memory{bench.Pinned, bench.Prefetch, bench.Managed}) },
}

// named returns the names of values.
func named[T interface{ String() string }](values []T) (names []string) {
	for _, v := range values {
		names = append(names, v.String())
	}
	return names
}

func completeDevices() (ids []string) {
	for _, p := range profiles.All() {
		ids = append(ids, "sim:"+p.ID+"\t"+p.Name)
	}
	for _, p := range profiles.Short() {
		ids = append(ids, "sim:"+p.ID+"\t"+p.Name+", from data sheets")
	}
	return append(ids, "gpu0\tthe first GPU")
}

func completeStrategies() (names []string) {
	for _, s := range optimizer.Strategies() {
		names = append(names, s.Name+"\t"+s.Doc)
	}
	return append(names, "all")
}

func completePasses() (names []string) {
	for _, p := range optimizer.Passes() {
		names = append(names, p.Name+"\t"+p.Doc)
	}
	return names
}

func completeMethods() (names []string) {
	for _, m := range solver.Methods() {
		names = append(names, m.Name+"\t"+m.Doc)
	}
	return names
}

// completeFlags adds the completion of flags to a command and its commands.
func completeFlags(c *cobra.Command) {
	c.Flags().VisitAll(func(f *pflag.Flag) {
		values := flagValues[f.Name]
		if values == nil || f.Value.Type() == "bool" {
			return
		}
		_ = c.RegisterFlagCompletionFunc(f.Name, func(_ *cobra.Command, _ []string, begun string) ([]string, cobra.ShellCompDirective) {
			return completed(values(), begun), cobra.ShellCompDirectiveNoFileComp
		}) // an error means that the command has a completion of its own for the flag
	})
	for _, sub := range c.Commands() {
		completeFlags(sub)
	}
}

// completed returns the values that begin with the last item of a list that was begun, each behind the items before it.
func completed(values []string, begun string) (matching []string) {
	before, item := "", begun
	if i := strings.LastIndexByte(begun, ','); i >= 0 {
		before, item = begun[:i+1], begun[i+1:]
	}
	for _, v := range values {
		if strings.HasPrefix(v, item) {
			matching = append(matching, before+v)
		}
	}
	return matching
}
