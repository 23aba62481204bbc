package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/arrayfile"
	"github.com/reprise-gpu/reprise/internal/bench"
	"github.com/reprise-gpu/reprise/internal/phrase"
	"github.com/reprise-gpu/reprise/internal/sim"
	"github.com/reprise-gpu/reprise/internal/traced"
	"github.com/reprise-gpu/reprise/ir"
	"github.com/reprise-gpu/reprise/tracer"
)

// runnable is a saved program with what the command line adds to it.
type runnable struct {
	name string
	file *ir.File
	data [][]byte // first contents, by buffer; nil for buffers whose contents are undefined
	set  []ir.Param
	outs []output
}

// output is a buffer that is written to a file.
type output struct {
	buffer ir.BufferID
	path   string
	data   []byte // after the last replay
}

// runnable reads the program and the flags --set, --in and --out.
func (f *programFlags) runnable(c *cobra.Command, arg, deviceID string) (*runnable, error) {
	name, file, err := withContents(c, arg, deviceID)
	if err != nil {
		return nil, err
	}
	r := &runnable{name: name, file: file, data: make([][]byte, len(file.Graph.Buffers))}
	for i := range file.Graph.Buffers {
		if b := &file.Graph.Buffers[i]; r.defined(b) {
			r.data[i] = make([]byte, b.Size())
		}
	}
	for i := range file.Contents {
		cs := &file.Contents[i]
		r.data[cs.Buffer] = cs.Bytes(&file.Graph.Buffers[cs.Buffer])
	}
	for _, word := range f.set {
		if err := r.setParam(word); err != nil {
			return nil, err
		}
	}
	for _, word := range f.in {
		if err := r.readBuffer(word); err != nil {
			return nil, err
		}
	}
	for _, word := range f.out {
		if err := r.addOutput(word); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// withContents returns a program as a file with contents. A workload is traced on the device, with its inputs.
func withContents(c *cobra.Command, arg, deviceID string) (name string, file *ir.File, err error) {
	if isFile(arg) {
		return readProgram(c, arg)
	}
	w, err := pickProgram(c, arg)
	if err != nil {
		return arg, nil, err
	}
	dev, err := openAny(deviceID, sim.Options{})
	if err != nil {
		return arg, nil, err
	}
	defer func() { err = device.Join(err, dev.Close()) }()
	in, err := w.New(dev, bench.Params{Size: w.Sizes[0], Seed: 1})
	if err != nil {
		return arg, nil, err
	}
	defer func() { err = device.Join(err, in.Close()) }()
	if err := in.Reset(); err != nil {
		return arg, nil, err
	}
	file, err = traced.FileOf(in.Trace)
	return arg, file, err
}

// defined reports whether the contents of a buffer are defined before the first replay. A variable of a module has those of
// its module.
func (r *runnable) defined(b *ir.Buffer) bool {
	if b.Role == ir.Temporary || b.Role == ir.Output {
		return false
	}
	module, _, dotted := strings.Cut(b.Name, ".")
	return !dotted || !slices.ContainsFunc(r.file.Graph.Modules, func(m ir.Module) bool { return m.Name == module })
}

// setParam parses NAME=VALUE.
func (r *runnable) setParam(word string) error {
	name, text, ok := strings.Cut(word, "=")
	if !ok {
		return usagef("--set %s: write the value behind the name, as in alpha=0.1", word)
	}
	var names []string
	for _, p := range r.file.Graph.Params {
		if p.Name == name {
			v, err := ir.ParseScalar(p.Value.Type, text)
			if err != nil {
				return usagef("--set %s: %w", word, err)
			}
			r.set = append(r.set, ir.Param{Name: name, Value: v})
			return nil
		}
		names = append(names, p.Name)
	}
	return usagef("--set %s: %w", word, unknown("parameter", name, names))
}

// unknown returns an error for a name that is none of a list.
func unknown(what, name string, names []string) error {
	switch near := phrase.Nearest(name, names); {
	case len(names) == 0:
		return fmt.Errorf("the program has no %ss", what)
	case near != "":
		return fmt.Errorf("the program has no %s %s (did you mean %s?); it has %s", what, name, near, strings.Join(names, ", "))
	}
	return fmt.Errorf("the program has no %s %s; it has %s", what, name, strings.Join(names, ", "))
}

// buffer parses BUFFER=FILE. fits reports whether the flag applies to a buffer.
func (r *runnable) buffer(flag, word string, fits func(*ir.Buffer) bool) (id ir.BufferID, path string, err error) {
	name, path, ok := strings.Cut(word, "=")
	name = strings.TrimPrefix(name, "@")
	if !ok || path == "" {
		return 0, "", usagef("--%s %s: write the file behind the buffer, as in x=x.npy", flag, word)
	}
	if path == "-" {
		return 0, "", usagef("--%s %s: standard input and output hold no buffer: name a file", flag, word)
	}
	var names []string
	for i := range r.file.Graph.Buffers {
		b := &r.file.Graph.Buffers[i]
		switch {
		case b.Name == name && fits(b):
			return ir.BufferID(i), path, nil
		case b.Name == name:
			return 0, "", usagef("--%s %s: buffer %s has role %v: %s", flag, word, name, b.Role, roleReasons[flag])
		case fits(b):
			names = append(names, b.Name)
		}
	}
	return 0, "", usagef("--%s %s: %w", flag, word, unknown("buffer", name, names))
}

var roleReasons = map[string]string{
	"in":  "only input, inout and constant buffers have contents before a replay",
	"out": "a temporary has no contents after a replay: declare it an output",
}

// readBuffer reads the contents of --in BUFFER=FILE.
func (r *runnable) readBuffer(word string) error {
	id, path, err := r.buffer("in", word, r.defined)
	if err != nil {
		return err
	}
	read := readFile
	if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
		read = os.ReadFile // a regular file has an end, and a buffer may be larger than other inputs
	}
	text, err := read(path)
	if err != nil {
		return fmt.Errorf("--in %s: %w", word, err)
	}
	b := &r.file.Graph.Buffers[id]
	if r.data[id], err = arrayfile.Decode(path, b.Elem, b.Len, text); err != nil {
		return fmt.Errorf("%s cannot be the contents of @%s, %v[%d]: %w", path, b.Name, b.Elem, b.Len, err)
	}
	return nil
}

// addOutput notes --out BUFFER=FILE.
func (r *runnable) addOutput(word string) error {
	id, path, err := r.buffer("out", word, func(b *ir.Buffer) bool { return b.Role != ir.Temporary && (b.Role == ir.Output || r.defined(b)) })
	if err != nil {
		return err
	}
	if slices.ContainsFunc(r.outs, func(o output) bool { return o.path == path }) {
		return usagef("--out %s: another buffer is written to this file: give each one of its own", word)
	}
	b := &r.file.Graph.Buffers[id]
	if _, err := arrayfile.Encode(path, b.Elem, nil); err != nil {
		return usagef("--out %s: %w", word, err)
	}
	r.outs = append(r.outs, output{buffer: id, path: path})
	return checkWritable(path)
}

// shown returns the outputs of --out, or else those of which the first elements are printed.
func (r *runnable) shown() []output {
	if len(r.outs) > 0 {
		return r.outs
	}
	var all []output
	for i := range r.file.Graph.Buffers {
		if b := &r.file.Graph.Buffers[i]; b.Role == ir.Output || b.Role == ir.InOut && r.defined(b) {
			all = append(all, output{buffer: ir.BufferID(i)})
		}
	}
	return all
}

// load makes a trace of the program on a device, without contents.
func (r *runnable) load(dev device.Device) (*tracer.Trace, error) {
	loaded, err := traced.Load(dev, &ir.File{Graph: r.file.Graph})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", r.name, err)
	}
	trace := loaded.(*tracer.Trace)
	for i := range trace.Graph.Ops {
		if op := &trace.Graph.Ops[i]; op.Kind == ir.KindHost {
			err = errors.Join(err, trace.BindHost(op.Label, func() error { return nil }))
		}
	}
	return trace, err
}

// start passes each buffer with defined contents to write.
func (r *runnable) start(trace *tracer.Trace, write func(b tracer.Buffer, data []byte) error) error {
	for i, data := range r.data {
		if data == nil {
			continue
		}
		b, err := trace.Buffer(trace.Graph.Buffers[i].Name)
		if err == nil {
			err = write(b, data)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// read returns the outputs with their contents.
func (r *runnable) read(trace *tracer.Trace, read func(data []byte, b tracer.Buffer) error) ([]output, error) {
	all := r.shown()
	for i := range all {
		b, err := trace.Buffer(trace.Graph.Buffers[all[i].buffer].Name)
		if err != nil {
			return nil, err
		}
		all[i].data = make([]byte, b.Bytes())
		if err := read(all[i].data, b); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// write writes the outputs to their files, all of which are encoded first.
func (r *runnable) write(all []output) error {
	files := make([][]byte, len(all))
	for i, o := range all {
		var err error
		if files[i], err = arrayfile.Encode(o.path, r.file.Graph.Buffers[o.buffer].Elem, o.data); err != nil && o.path != "" {
			return fmt.Errorf("%s: %w", o.path, err)
		}
	}
	for i, o := range all {
		if o.path == "" {
			continue
		}
		if err := writeFile(o.path, files[i]); err != nil {
			return err
		}
	}
	return nil
}

// maxShown is the number of elements of a buffer that are printed.
const maxShown = 4

// print prints what was written, or the first elements.
func (r *runnable) print(w io.Writer, all []output) error {
	for _, o := range all {
		b := &r.file.Graph.Buffers[o.buffer]
		if o.path != "" {
			if _, err := fmt.Fprintf(w, "%s: @%s, %v[%d]\n", o.path, b.Name, b.Elem, b.Len); err != nil {
				return err
			}
			continue
		}
		text := strings.Fields(string(mustEncode(b.Elem, o.data[:min(int64(len(o.data)), maxShown*b.Elem.Size())])))
		if b.Len > maxShown {
			text = append(text, "...")
		}
		if _, err := fmt.Fprintf(w, "@%s, %v[%d]: %s\n", b.Name, b.Elem, b.Len, strings.Join(text, " ")); err != nil {
			return err
		}
	}
	return nil
}

func mustEncode(t ir.Type, data []byte) []byte {
	text, err := arrayfile.Encode(".txt", t, data)
	if err != nil {
		panic("BUG: text has all types: " + err.Error())
	}
	return text
}

// note says what the run leaves out.
func (r *runnable) note(w io.Writer) {
	for i := range r.file.Graph.Ops {
		if op := &r.file.Graph.Ops[i]; op.Kind == ir.KindHost {
			fmt.Fprintf(w, "%s: host call %q does nothing here, since files have no functions\n", r.name, op.Label)
		}
	}
}
