package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/reprise-gpu/reprise/internal/bounded"
	"github.com/reprise-gpu/reprise/ir"
)

// readInput reads a file, or standard input for "-". name is the name of the input in messages.
func readInput(c *cobra.Command, path string) (name, text string, err error) {
	name = path
	var data []byte
	if path == "-" {
		name = "stdin"
		data, err = bounded.Read(name, c.InOrStdin(), maxInput)
	} else {
		data, err = readFile(path)
	}
	return name, string(data), err
}

// maxInput bounds an input file, in bytes.
const maxInput = bounded.MaxProgram

// readFile reads a file of at most maxInput bytes.
func readFile(path string) ([]byte, error) { return bounded.ReadFile(path, maxInput) }

// readProgram reads a saved program and checks it against the PTX that came with it.
func readProgram(c *cobra.Command, path string) (name string, f *ir.File, err error) {
	name, text, err := readInput(c, path)
	if err != nil {
		return name, nil, fmt.Errorf("read graph: %w", err)
	}
	if f, err = ir.Load(name, text); err != nil {
		return name, nil, err
	}
	if err := checkModules(f.Graph); err != nil {
		return name, nil, fmt.Errorf("%s: %w", name, err)
	}
	return name, f, nil
}
