// Package bounded reads input up to a limit, since a file may be a device or a pipe that never ends.
package bounded

import (
	"fmt"
	"io"
	"io/fs"
	"os"
)

// MaxProgram is the limit for a saved program, in bytes. A graph of a million operations takes less than a third of it.
const MaxProgram = 256 << 20

// ReadFile is os.ReadFile of a file of at most limit bytes.
func ReadFile(path string, limit int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return Read(path, f, limit)
}

// Read reads at most limit bytes up to the end of r. More are an fs.PathError with the name.
func Read(name string, r io.Reader, limit int64) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, limit+1))
	if int64(len(data)) > limit {
		return nil, &fs.PathError{Op: "read", Path: name, Err: fmt.Errorf("it has more than %d bytes, which is the limit", limit)}
	}
	return data, err
}
