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

// readGraph reads a saved graph and checks it against the PTX that came with it.
func readGraph(c *cobra.Command, path string) (name string, g *ir.Graph, err error) {
	name, text, err := readInput(c, path)
	if err != nil {
		return name, nil, fmt.Errorf("read graph: %w", err)
	}
	file, err := ir.Load(name, text)
	if err != nil {
		return name, nil, err
	}
	if err := checkModules(file.Graph); err != nil {
		return name, nil, fmt.Errorf("%s: %w", name, err)
	}
	return name, file.Graph, nil
}
