package main

import (
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"github.com/reprise-gpu/reprise/ir"
)

// readInput reads a file, or standard input for "-". Its name is for messages.
func readInput(c *cobra.Command, path string) (name, text string, err error) {
	name = path
	var data []byte
	if path == "-" {
		name = "stdin"
		data, err = readBounded(name, c.InOrStdin())
	} else {
		data, err = readFile(path)
	}
	return name, string(data), err
}

// maxInput bounds a file in bytes. A graph of a million operations takes less than a third of it.
const maxInput = 256 << 20

// readFile is os.ReadFile of a file that may never end, as devices and pipes may.
func readFile(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readBounded(path, f)
}

// readBounded reads all, unless it is too much.
func readBounded(name string, r io.Reader) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxInput+1))
	if len(data) > maxInput {
		return nil, &fs.PathError{Op: "read", Path: name, Err: fmt.Errorf("more than %d MiB, the most that an input may have", maxInput>>20)}
	}
	return data, err
}

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
