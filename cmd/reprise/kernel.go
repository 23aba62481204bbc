package main

import (
	"fmt"
	"os"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/reprise-gpu/reprise/ptx"
)

func newKernel() *cobra.Command {
	c := &cobra.Command{
		Use:   "kernel",
		Short: "Look into PTX kernels and run them",
		Args:  cobra.NoArgs,
		RunE:  func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(newKernelInspect(), newKernelRun())
	return c
}

// entryInfo is one kernel as inspect --json prints it.
type entryInfo struct {
	Entry  string      `json:"entry"`
	Params []paramInfo `json:"params"`
	// Variables are those of the module that the kernel touches, and Opaque is why
	// it may touch memory that no parameter leads to.
	Variables []variableInfo `json:"variables,omitempty"`
	Opaque    string         `json:"opaque,omitempty"`
}

type variableInfo struct {
	Name   string     `json:"name"`
	Access ptx.Access `json:"access"`
}

type paramInfo struct {
	Index  int        `json:"index"`
	Name   string     `json:"name"`
	Type   string     `json:"type"`
	Access ptx.Access `json:"access"`
	Reason string     `json:"reason,omitempty"` // why the access is unknown
}

// inspect describes every kernel of a module. A parameter's access joins those of
// all pointers in it.
func inspect(m *ptx.Module) []entryInfo {
	entries := []entryInfo{}
	for _, f := range m.Funcs {
		if !f.Entry {
			continue
		}
		e := entryInfo{Entry: f.Name, Params: []paramInfo{}}
		for _, p := range ptx.Signature(m, f) {
			e.Params = append(e.Params, paramInfo{Index: p.Index, Name: p.Name, Type: p.Type, Access: ptx.AccessNone})
		}
		effects := ptx.Infer(m, f)
		for _, a := range effects.Params {
			p := &e.Params[a.Param]
			p.Access = p.Access.Or(a.Access)
			if a.Why != nil && p.Reason == "" {
				p.Reason = a.Why.String()
			}
		}
		for _, v := range effects.Symbols {
			e.Variables = append(e.Variables, variableInfo{v.Name, v.Access})
		}
		if effects.Opaque != nil {
			e.Opaque = effects.Opaque.String()
		}
		entries = append(entries, e)
	}
	return entries
}

func newKernelInspect() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "inspect FILE.ptx",
		Short: "Print each kernel's signature and what it does with its pointers",
		Long: `Inspect prints the parameters of every kernel in a PTX file and what the code
does with the memory behind each: read, write, readwrite, none, or unknown
when an address cannot be followed, with the place where it was lost.`,
		Args: oneArg("FILE.ptx"),
		RunE: func(c *cobra.Command, args []string) error {
			source, err := os.ReadFile(args[0])
			if err != nil {
				return err
			}
			module, err := ptx.Parse(args[0], string(source))
			if err != nil {
				return err
			}
			entries := inspect(module)
			if asJSON {
				return writeJSON("-", c.OutOrStdout(), entries)
			}
			w := tabwriter.NewWriter(c.OutOrStdout(), 0, 0, 2, ' ', 0)
			for _, e := range entries {
				fmt.Fprintf(w, "%s\n", e.Entry)
				for _, p := range e.Params {
					fmt.Fprintf(w, "  %d\t%s\t%s\t%s\n", p.Index, p.Type, p.Access, strings.TrimSpace(p.Name+"  "+p.Reason))
				}
				for _, v := range e.Variables {
					fmt.Fprintf(w, "  \tvariable\t%s\t%s\n", v.Access, v.Name)
				}
				if e.Opaque != "" {
					fmt.Fprintf(w, "  \topaque\tunknown\t%s\n", e.Opaque)
				}
			}
			return w.Flush()
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}
