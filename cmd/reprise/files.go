package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// writeJSON writes v, indented, to a file or for "-" to stdout.
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

// writeFile replaces a file as a whole: an interrupted run leaves the old one.
func writeFile(path string, data []byte) error {
	err := replaceFile(path, data)
	var failed *fs.PathError
	if errors.As(err, &failed) {
		err = failed.Err // its path may be the temporary file's
	}
	if err != nil {
		return fmt.Errorf("cannot write %s: %w", path, err)
	}
	return nil
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
	defer os.Remove(tmp.Name())
	_, err = tmp.Write(data)
	err = errors.Join(err, tmp.Chmod(mode.Perm()), tmp.Close())
	if err != nil {
		return err
	}
	return os.Rename(tmp.Name(), path)
}

// checkWritable reports whether writeFile could write path now.
func checkWritable(path string) error {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return fmt.Errorf("cannot write %s: it is a directory", path)
	}
	tmp, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*")
	var failed *fs.PathError
	if errors.As(err, &failed) {
		return fmt.Errorf("cannot write %s: %w", path, failed.Err)
	}
	if err != nil {
		return err
	}
	return errors.Join(tmp.Close(), os.Remove(tmp.Name()))
}
