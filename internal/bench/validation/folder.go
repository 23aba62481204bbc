package validation

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Has reports whether the ID of a row contains only.
func (s *Set) Has(only string) bool {
	for i := range s.Rows {
		if strings.Contains(s.Rows[i].ID, only) {
			return true
		}
	}
	return false
}

// NewFolder creates a folder for WriteFolder. It returns an error if the folder has rows already.
func NewFolder(dir string) error {
	at := filepath.Join(dir, filepath.FromSlash(rowsFile))
	if _, err := os.Stat(at); err == nil {
		return fmt.Errorf("%s exists: name another folder, or move the file", at)
	}
	for _, folder := range []string{filepath.Dir(filepath.FromSlash(rowsFile)), ptxFolder, profileFolder} {
		if err := os.MkdirAll(filepath.Join(dir, folder), 0o755); err != nil {
			return fmt.Errorf("cannot write into %s: %w", dir, cause(err))
		}
	}
	return nil
}

// WriteFolder writes rows that Record returned as a set of their own, with the PTX of the set that they were recorded
// from. profile, if not nil, is the text of the profile that the rows name. It returns the path of the file of rows.
func WriteFolder(dir string, from *Set, rows []Row, profile []byte) (string, error) {
	files := map[string][]byte{filepath.FromSlash(rowsFile): Format(rows)}
	for i := range rows {
		text, err := from.ptx(&rows[i])
		if err != nil {
			return "", err
		}
		files[filepath.Join(ptxFolder, filepath.FromSlash(rows[i].PTX))] = []byte(text)
		if profile != nil {
			files[filepath.Join(profileFolder, rows[i].Profile)] = profile
		}
	}
	var failed error
	for name, data := range files {
		at := filepath.Join(dir, name)
		err := errors.Join(os.MkdirAll(filepath.Dir(at), 0o755), os.WriteFile(at, data, 0o644))
		if wrong := (*fs.PathError)(nil); errors.As(err, &wrong) {
			failed = fmt.Errorf("cannot write %s: %w", at, wrong.Err)
		}
	}
	return filepath.Join(dir, filepath.FromSlash(rowsFile)), failed
}
