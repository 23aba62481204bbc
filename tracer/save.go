package tracer

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/reprise-gpu/reprise/internal/bounded"
	"github.com/reprise-gpu/reprise/internal/release"
	"github.com/reprise-gpu/reprise/ir"
)

// SaveOptions select what Save writes beside the program: by default, no contents of buffers.
type SaveOptions struct {
	// Contents saves the present contents of the buffers that the program has written, so that the file can be replayed
	// without it.
	Contents bool
	// Seed, if it is not 0, saves the seed of random numbers in [0, 1) for input, inout and constant buffers of
	// floating-point numbers, in place of contents of more than 256 elements.
	Seed uint64
}

// Save writes the trace to a file: the operations with their accesses, the PTX, the parameters, the buffers, and what the
// options select. The command reprise takes such a file in place of a workload, and reprise.Load reads it. By custom its
// name ends in .rir. A file of that name is replaced; an error leaves it as it was. Functions of host calls are not saved.
func (tr *Trace) Save(path string, options ...SaveOptions) error {
	if tr == nil || tr.t == nil {
		return errNoTrace
	}
	var o SaveOptions
	for _, one := range options {
		o.Contents = o.Contents || one.Contents
		o.Seed = max(o.Seed, one.Seed)
	}
	f, err := tr.file(o)
	if err != nil {
		return fmt.Errorf("save %s: %w", path, err)
	}
	text := f.Text()
	if n := len(text); n > bounded.MaxProgram {
		return fmt.Errorf("save %s: the text has %d bytes, and a file at most %d: leave the contents out, or give a seed", path, n, bounded.MaxProgram)
	}
	if err := replace(path, text); err != nil {
		return fmt.Errorf("save %s: %w", path, err)
	}
	return nil
}

// file returns the trace as a file.
func (tr *Trace) file(o SaveOptions) (*ir.File, error) {
	contents, err := tr.contents(o)
	if err != nil {
		return nil, err
	}
	return &ir.File{Tool: release.Tool, Graph: tr.Graph, Contents: contents}, nil
}

// contents returns what a file states about the contents of buffers.
func (tr *Trace) contents(o SaveOptions) (all []ir.Contents, err error) {
	if o == (SaveOptions{}) {
		return nil, nil
	}
	if tr.closed {
		return nil, fmt.Errorf("trace %s: %w", tr.Graph.Name, ErrClosed)
	}
	if err := tr.t.dev.SynchronizeAll(); err != nil {
		return nil, err
	}
	for i := range tr.Graph.Buffers {
		id, buf := ir.BufferID(i), &tr.Graph.Buffers[i]
		switch {
		case buf.Role == ir.Temporary || buf.Role == ir.Output || tr.t.isVariable(id):
		case o.Seed != 0 && buf.Elem.Float() && (buf.Len > maxExact || !o.Contents):
			all = append(all, uniform(id, buf, o.Seed+uint64(i)))
		case o.Contents && len(tr.t.buffers[id].written) > 0:
			data, err := tr.written(id)
			if err != nil {
				return nil, err
			}
			all = append(all, ir.Contents{Buffer: id, Data: data})
		}
	}
	return all, nil
}

// maxExact is the number of elements up to which contents are saved although a seed is given.
const maxExact = 256

// uniform returns the contents of a generator of numbers in [0, 1).
func uniform(id ir.BufferID, buf *ir.Buffer, seed uint64) ir.Contents {
	one := map[ir.Type]uint64{ir.F16: 0x3c00, ir.BF16: 0x3f80, ir.F32: 0x3f800000, ir.F64: 0x3ff0000000000000}[buf.Elem]
	return ir.Contents{Buffer: id, Seed: seed, Lo: ir.Scalar{Type: buf.Elem}, Hi: ir.Scalar{Type: buf.Elem, Bits: one}}
}

// written returns the contents of a buffer, with zeros where the program has written nothing.
func (tr *Trace) written(id ir.BufferID) ([]byte, error) {
	b := tr.buffer(id)
	data := make([]byte, b.Bytes())
	for _, e := range tr.t.buffers[id].written {
		part := b
		part.lo, part.hi = e.lo, e.hi
		if err := Read(data[e.lo:e.hi], part); err != nil {
			return nil, err
		}
	}
	return data, nil
}

// replace writes a file next to path and renames it, so that path is never incomplete.
func replace(path string, data []byte) error {
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
	if err = errors.Join(err, tmp.Chmod(mode.Perm()), tmp.Close()); err != nil {
		return err
	}
	return os.Rename(tmp.Name(), path)
}
