package main

import (
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/reprise-gpu/reprise/internal/ptx"
	"github.com/reprise-gpu/reprise/internal/ptx/access"
)

func newKernel() *cobra.Command {
	c := &cobra.Command{
		Use:   "kernel",
		Short: "Inspect, run and profile PTX kernels",
		Args:  noCommand,
		RunE:  func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(newKernelInspect(), newKernelRun(), newKernelProfile())
	return c
}

// entryInfo is one kernel as inspect --json prints it.
type entryInfo struct {
	Entry  string      `json:"entry"`
	Params []paramInfo `json:"params"`
	// Variables are the module's variables that the kernel accesses. Opaque explains why
	// the kernel may access memory through other pointers than its parameters.
	Variables []variableInfo `json:"variables,omitempty"`
	Opaque    string         `json:"opaque,omitempty"`
}

type variableInfo struct {
	Name   string        `json:"name"`
	Access access.Access `json:"access"`
}

type paramInfo struct {
	Index  int           `json:"index"`
	Name   string        `json:"name"`
	Type   string        `json:"type"`
	Access access.Access `json:"access"`
	Reason string        `json:"reason,omitempty"` // why the access is unknown
	// Ranges are the accesses through the parameter. It is set by --why.
	Ranges []rangeInfo `json:"ranges,omitempty"`
}

// rangeInfo describes the bytes that one load, store or atomic accesses. Bytes is an expression for the range, and
// Reason explains why it is not bounded; both are set if only one end is bounded. Certain is set if the parameters of
// the launch alone determine which bytes each thread accesses. Strides lists the distances of its parts in bytes, if it
// leaves gaps and they are known.
type rangeInfo struct {
	Line    int           `json:"line"`
	Access  access.Access `json:"access"`
	Bytes   string        `json:"bytes,omitempty"`
	Strides string        `json:"strides,omitempty"`
	Reason  string        `json:"reason,omitempty"`
	Certain bool          `json:"certain"`
}

func (r rangeInfo) String() string {
	const decides = "; pass a slice to bound it"
	switch {
	case r.Certain:
		return r.Bytes + r.gaps()
	case r.Reason == "":
		return "at most " + r.Bytes + r.gaps() + decides
	case r.Bytes == "":
		return "anywhere: " + r.Reason + decides
	}
	return r.Bytes + ", no further bound: " + r.Reason + decides
}

// gaps returns the text of the strides.
func (r rangeInfo) gaps() string {
	if r.Strides == "" {
		return ""
	}
	return "; strides " + r.Strides
}

// inspect describes every kernel of a module. A parameter's access is the union of the accesses through all pointers in
// it.
func inspect(m *ptx.Module, why bool) []entryInfo {
	entries := []entryInfo{}
	for _, f := range m.Funcs {
		if !f.Entry {
			continue
		}
		e := entryInfo{Entry: f.Name, Params: []paramInfo{}}
		for _, p := range access.Signature(m, f) {
			e.Params = append(e.Params, paramInfo{Index: p.Index, Name: p.Name, Type: p.Type, Access: access.None})
		}
		footprint := access.NewFootprint(m, f)
		effects := footprint.Effects
		for _, a := range effects.Params {
			p := &e.Params[a.Param]
			p.Access = p.Access.Or(a.Access)
			if a.Why != nil && p.Reason == "" {
				p.Reason = a.Why.String()
			}
		}
		if why {
			e.addRanges(footprint)
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

// addRanges adds the range of each access to its parameter. Equal ranges, as of a function that is called twice, are
// added once.
func (e *entryInfo) addRanges(f *access.Footprint) {
	for i := range f.Ranges {
		r := &f.Ranges[i]
		info := rangeInfo{Line: r.Pos.Line, Access: r.Access, Bytes: r.Text, Strides: strings.Join(r.Strides, ", "), Certain: f.Decided(r)}
		if r.Why != nil {
			info.Reason = r.Why.String()
		}
		p := &e.Params[r.Param]
		if !slices.Contains(p.Ranges, info) {
			p.Ranges = append(p.Ranges, info)
		}
	}
}

// readModule reads a PTX file.
func readModule(path string) (m *ptx.Module, source string, err error) {
	if strings.HasSuffix(path, ".rir") {
		return nil, "", usagef("%s is a saved program: name a PTX file; reprise kernel profile %[1]s prints the kernels of the program", path)
	}
	data, err := readFile(path)
	if err != nil {
		return nil, "", err
	}
	m, err = ptx.Parse(path, string(data))
	return m, string(data), err
}

func newKernelInspect() *cobra.Command {
	var asJSON, why bool
	c := &cobra.Command{
		Use:   "inspect FILE.ptx",
		Short: "Print the signature of each kernel and its memory accesses",
		Long: `Inspect prints the parameters of every kernel in a PTX file, and how the code accesses
the memory behind each: read, write, readwrite or none. The access is unknown if the
analysis cannot follow an address; the output names the place.

With --why, it also prints the bytes of each load, store and atomic, as an expression
over the shape of the launch and the other parameters. A trace evaluates it for each
launch. Strides of more than the access, as of tiles of a matrix, follow in bytes; launches
on different tiles do not conflict. If the bytes have no bound, it prints the reason; the access then counts as an
access to the whole buffer.

A launch is refused if such an access certainly leaves the slice that is passed. If the
expression is only an upper bound, because it also depends on the contents of memory
(written ?), the line ends in "pass a slice to bound it". Passing a slice of the buffer
then promises that the kernel stays inside it.`,
		Args: oneArg("FILE.ptx"),
		RunE: func(c *cobra.Command, args []string) error {
			module, _, err := readModule(args[0])
			if err != nil {
				return err
			}
			entries := inspect(module, why)
			if asJSON {
				return writeJSON("-", c.OutOrStdout(), entries)
			}
			w := tabwriter.NewWriter(c.OutOrStdout(), 0, 0, 2, ' ', 0)
			for _, e := range entries {
				fmt.Fprintf(w, "%s\n", e.Entry)
				for _, p := range e.Params {
					fmt.Fprintf(w, "  %d\t%s\t%s\t%s\n", p.Index, p.Type, p.Access, strings.TrimSpace(p.Name+"  "+p.Reason))
					for _, r := range p.Ranges {
						fmt.Fprintf(w, "  \t\t%s\t  line %d: %s\n", r.Access, r.Line, r)
					}
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
	c.Flags().BoolVar(&why, "why", false, "print the bytes of each access, or why they are unknown")
	return c
}
