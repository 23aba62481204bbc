package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/spf13/cobra"
)

// writeJSON writes v as indented JSON to a file, or to stdout if path is "-".
func writeJSON(path string, stdout io.Writer, v any) error {
	data, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	data = append(data, '\n')
	if path == "-" {
		_, err = stdout.Write(data)
		return err
	}
	return writeFile(path, data)
}

// writeResults prints a table and writes v as JSON to path. If path is "-", only the JSON is printed.
func writeResults(stdout io.Writer, path string, v any, table func(io.Writer) error) error {
	var failed error
	if path != "-" {
		failed = table(stdout)
	}
	if path != "" {
		failed = errors.Join(failed, writeJSON(path, stdout, v))
	}
	return failed
}

// jsonFlag adds --json to a command without other forms of output.
func jsonFlag(c *cobra.Command, path *string, what string) {
	c.Flags().StringVar(path, "json", "", "also write "+what+" to `FILE` as JSON (- for standard output, instead of text)")
}

// aside appends ".partial" to the paths of an incomplete run's results, because files at the original paths may be
// complete. The error it returns names the new paths.
func aside(stopped error, paths ...*string) error {
	var went []string
	for _, path := range paths {
		if *path != "" && *path != "-" {
			*path += ".partial"
			went = append(went, *path)
		}
	}
	if len(went) == 0 {
		return stopped
	}
	return fmt.Errorf("%w; the results so far were written to %s", stopped, strings.Join(went, " and "))
}

// writeFile replaces a file atomically: an interrupted run leaves the old one.
func writeFile(path string, data []byte) error {
	return writeError(path, replaceFile(path, data))
}

// writeError returns an error that names path instead of the temporary file.
func writeError(path string, err error) error {
	var failed *fs.PathError
	if errors.As(err, &failed) {
		err = failed.Err
	}
	if err == nil {
		return nil
	}
	return fmt.Errorf("cannot write %s: %w", path, err)
}

func replaceFile(path string, data []byte) error {
	mode := fs.FileMode(0o644)
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	if info, err := os.Stat(path); err == nil {
		if mode = info.Mode(); !mode.IsRegular() {
			return os.WriteFile(path, data, mode.Perm()) // a pipe or a terminal
		}
	}
	tmp, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	defer unfinished.remove(tmp.Name())
	unfinished.add(tmp.Name())
	_, err = tmp.Write(data)
	err = errors.Join(err, tmp.Chmod(mode.Perm()), tmp.Close())
	if err != nil {
		return err
	}
	return os.Rename(tmp.Name(), path)
}

// temporaries is the set of temporary files that are being written. They are removed if a signal ends the process.
type temporaries struct {
	mu    sync.Mutex
	paths map[string]bool
}

var unfinished = temporaries{paths: map[string]bool{}}

func (t *temporaries) add(path string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.paths[path] = true
}

func (t *temporaries) remove(path string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.paths, path)
	os.Remove(path)
}

// drop removes all files. It keeps mu locked, so that no file is added before the process exits.
func (t *temporaries) drop() {
	t.mu.Lock()
	for path := range t.paths {
		os.Remove(path)
	}
}

// checkWritable returns an error if writeFile could not write path now.
func checkWritable(path string) error {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return fmt.Errorf("cannot write %s: it is a directory", path)
	}
	tmp, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*")
	if err == nil {
		err = errors.Join(tmp.Close(), os.Remove(tmp.Name()))
	}
	return writeError(path, err)
}
