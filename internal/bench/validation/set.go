package validation

import (
	"embed"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/reprise-gpu/reprise/device/model"
	"github.com/reprise-gpu/reprise/internal/bounded"
	"github.com/reprise-gpu/reprise/internal/profiles"
)

// Set is a file of rows with the PTX and the profiles that they name.
type Set struct {
	Name   string // for messages
	Rows   []Row
	folder fs.FS // holds ptx/ and profiles/
	where  string
}

// The folders of a set.
const (
	rowsFile      = "train/rows.csv"
	ptxFolder     = "ptx"
	profileFolder = "profiles"
)

// maxFile bounds a file of a set in bytes.
const maxFile = 64 << 20

//go:embed data/train/rows.csv data/ptx/*.ptx
var published embed.FS

// Data returns the published measurements that are part of this module.
func Data() *Set {
	folder, err := fs.Sub(published, "data")
	if err != nil {
		panic(fmt.Sprintf("BUG: %v", err))
	}
	s := &Set{Name: "the embedded rows", folder: folder, where: "the embedded data"}
	text, err := s.read(rowsFile)
	if err == nil {
		s.Rows, err = Parse(rowsFile, text)
	}
	if err != nil {
		panic(fmt.Sprintf("BUG: %v", err))
	}
	return s
}

// Open reads a file of rows. For DIR/any/rows.csv, the PTX is in DIR/ptx and the profiles are in DIR/profiles.
func Open(file string) (*Set, error) {
	text, err := bounded.ReadFile(file, maxFile)
	if err != nil {
		return nil, err
	}
	rows, err := Parse(file, text)
	if err != nil {
		return nil, err
	}
	where := filepath.Join(filepath.Dir(file), "..")
	return &Set{Name: file, Rows: rows, folder: os.DirFS(where), where: where}, nil
}

// read reads a file below the folder.
func (s *Set) read(name string) ([]byte, error) {
	at := filepath.Join(s.where, filepath.FromSlash(name))
	f, err := s.folder.Open(name)
	if err != nil {
		return nil, fmt.Errorf("cannot read %s: %w", at, cause(err))
	}
	defer f.Close()
	data, err := bounded.Read(at, f, maxFile)
	if err != nil {
		return nil, fmt.Errorf("cannot read %s: %w", at, cause(err))
	}
	return data, nil
}

// cause returns the error below a path error, which names the file once more.
func cause(err error) error {
	if failed, ok := err.(*fs.PathError); ok {
		return failed.Err
	}
	return err
}

// ptx returns the PTX of a row.
func (s *Set) ptx(r *Row) (string, error) {
	text, err := s.read(path.Join(ptxFolder, r.PTX))
	return string(text), err
}

// profile returns the profile of the GPU of a row.
func (s *Set) profile(r *Row) (*model.Profile, error) {
	if !strings.HasSuffix(r.Profile, ".json") {
		return profiles.Lookup(r.Profile)
	}
	name := path.Join(profileFolder, r.Profile)
	text, err := s.read(name)
	if err != nil {
		return nil, err
	}
	f, err := profiles.ParseFile(name, text)
	if err != nil {
		return nil, err
	}
	f.Profile.ID = r.Profile
	return &f.Profile, nil
}
