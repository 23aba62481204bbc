package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/reprise-gpu/reprise/ir"
)

// savedRecord describes a program that trace or import has written.
type savedRecord struct {
	File       string `json:"file"`
	Program    string `json:"program"`
	Operations int    `json:"operations"`
	Edges      int    `json:"edges"` // those that the file states: the dependencies of a trace follow when it is planned
	Buffers    int    `json:"buffers"`
}

// savedFlags name the files that trace and import write.
type savedFlags struct{ out, json string }

func (f *savedFlags) add(c *cobra.Command, what string) {
	c.Flags().StringVarP(&f.out, "output", "o", "", "write the "+what+" to `FILE` (- for standard output)")
	c.Flags().StringVar(&f.json, "json", "", "also describe the "+what+" in `FILE` as JSON (- for standard output)")
}

// check returns an error if no program can be written.
func (f *savedFlags) check(what string) error {
	switch {
	case f.out == "":
		return usagef("-o is missing: name the file for the %s (- for standard output)", what)
	case f.out == "-" && f.json == "-":
		return usagef("-o - and --json - exclude each other: both write to standard output")
	}
	return nil
}

// write writes a program to -o and its description to --json. Of a file, it prints how much it contains to standard error.
func (f *savedFlags) write(c *cobra.Command, saved *ir.File, contains func(*savedRecord) string) error {
	g := saved.Graph
	r := &savedRecord{File: f.out, Program: g.Name, Operations: g.Len(), Buffers: len(g.Buffers)}
	for i := range g.Ops {
		r.Edges += len(g.Ops[i].After)
	}
	if err := f.writeProgram(c, saved, contains(r)); err != nil || f.json == "" {
		return err
	}
	return writeJSON(f.json, c.OutOrStdout(), r)
}

func (f *savedFlags) writeProgram(c *cobra.Command, saved *ir.File, contains string) error {
	if f.out == "-" {
		_, err := c.OutOrStdout().Write(saved.Text())
		return err
	}
	if err := writeFile(f.out, saved.Text()); err != nil {
		return err
	}
	_, err := fmt.Fprintf(c.ErrOrStderr(), "%s: %s\n", f.out, contains)
	return err
}
