// Package instrtest runs instruction suites on devices: small PTX files, each of which states in its head the input of
// its kernel and the output that the ISA requires.
package instrtest

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/device"
)

// instruction is one file of an instruction suite: PTX that any driver loads, with
// one kernel called test, and directives in the comments before it.
//
//	// The rule that the file shows, in a sentence.
//	//! block 4                  threads, up to three extents; 32 when not given
//	//! grid 2                   blocks, likewise; 1 when not given
//	//! shared 256               bytes of dynamic shared memory; 0 when not given
//	//! in  s32 1 2 0x7f         a buffer the kernel reads: type, values
//	//! texture, surface, holds  see image
//	//! out f32~2ulp 0.5 nan     a buffer it writes, and what must be in it
//	//! prints "a line\n"        what vprintf writes, quoted; several add up
//	//! error illegal address    what the launch's error must say, instead of outs
//	//! refused needs .ftz       what the error of loading the module must say, instead of outs
//
// The kernel's parameters are the addresses of the buffers, ins first, then the
// handles of textures and surfaces, then outs. Floats are
// decimal or the bits behind 0f, 0d or 0x; "4*7" repeats, "0..31" counts. A NaN
// stands for any NaN. The tolerances ~2ulp, ~1e-6 (relative) and ~abs1e-6 are for
// what the ISA leaves open. Outputs start as bytes 0xCD.
type instruction struct {
	source      string
	grid, block device.Dim3
	shared      uint32
	in, out     []values
	images      []*image
	prints      string
	fails       string
	refused     string
}

// Options describes a device to the suite.
type Options struct {
	// Unsupported maps the names of files that the device cannot run, without ".ptx", to the reason.
	Unsupported map[string]string
	// Printed, if not nil, returns the text that kernels have printed since its last call.
	Printed func() string
}

// Run runs every .ptx file of an instruction suite as a subtest, each on a new device.
func Run(t *testing.T, open func() device.Device, suite fs.FS, o Options) {
	files, err := fs.Glob(suite, "*.ptx")
	require.NoError(t, err)
	require.NotEmpty(t, files, "the suite has no .ptx files")
	for name := range o.Unsupported {
		assert.Contains(t, files, name+".ptx", "no such instruction file")
	}
	for _, file := range files {
		name := strings.TrimSuffix(file, ".ptx")
		t.Run(name, func(t *testing.T) {
			if why, ok := o.Unsupported[name]; ok {
				t.Skip("unsupported: " + why)
			}
			text, err := fs.ReadFile(suite, file)
			require.NoError(t, err)
			in, err := parseInstruction(string(text))
			require.NoError(t, err, file)
			d := open()
			defer d.Close()
			b := &bench{d, t}
			in.check(b, file)
			if o.Printed != nil {
				assert.Equal(t, in.prints, o.Printed())
			}
		})
	}
}

// bench is a device with the test that uses it. Its memory is freed when the device is closed.
type bench struct {
	device.Device
	t *testing.T
}

// buffer returns device memory with the given content.
func (b *bench) buffer(bytes []byte) device.Ptr {
	b.t.Helper()
	p, err := b.Alloc(int64(len(bytes)))
	require.NoError(b.t, err)
	require.NoError(b.t, b.Write(p, bytes))
	return p
}

func (b *bench) read(p device.Ptr, bytes int) []byte {
	b.t.Helper()
	out := make([]byte, bytes)
	require.NoError(b.t, b.Read(out, p))
	return out
}

// check runs the kernel and compares the buffers with the expected ones.
func (in *instruction) check(b *bench, file string) {
	m, err := b.LoadModule(file, in.source)
	if in.refused != "" {
		require.ErrorContains(b.t, err, in.refused)
		return
	}
	require.NoError(b.t, err)
	f, err := b.Function(m, "test")
	require.NoError(b.t, err)
	var args []uint64 // the parameters: addresses and handles
	for _, v := range in.in {
		args = append(args, uint64(b.buffer(v.bytes())))
	}
	var checks []func() string
	for _, m := range in.images {
		handle, check := m.create(b)
		args = append(args, handle)
		if check != nil {
			checks = append(checks, check)
		}
	}
	outs := len(args)
	for _, v := range in.out {
		blank := make([]byte, len(v.bytes()))
		for i := range blank {
			blank[i] = 0xCD
		}
		args = append(args, uint64(b.buffer(blank)))
	}
	var params []byte
	for _, a := range args {
		params = binary.LittleEndian.AppendUint64(params, a)
	}
	s, err := b.CreateStream(0)
	require.NoError(b.t, err)
	err = b.Submit(s, &device.Launch{Function: f, Label: file, Grid: in.grid, Block: in.block, Shared: in.shared, Params: params})
	if err == nil {
		err = b.Synchronize(s)
	}
	if in.fails != "" {
		require.ErrorContains(b.t, err, in.fails)
		return
	}
	require.NoError(b.t, err)
	for i, v := range in.out {
		at := device.Ptr(args[outs+i])
		if d := v.diff(v.from(b.read(at, len(v.bytes())))); d != "" {
			b.t.Errorf("%s: out %d (.%s):\n%s", file, i+1, v.name, d)
		}
	}
	for i, check := range checks {
		if d := check(); d != "" {
			b.t.Errorf("%s: surface %d:\n%s", file, i+1, d)
		}
	}
}

// expects reports whether the head states expected results.
func (in *instruction) expects() bool {
	for _, m := range in.images {
		if m.holds != nil {
			return true
		}
	}
	return len(in.out) > 0
}

// parseInstruction reads the head of a file, up to the first line of PTX.
func parseInstruction(source string) (*instruction, error) {
	in := &instruction{source: source, grid: device.Dim3{X: 1, Y: 1, Z: 1}, block: device.Dim3{X: 32, Y: 1, Z: 1}}
	rule := false
	for n, line := range strings.Split(source, "\n") {
		text, ok := strings.CutPrefix(line, "//!")
		if !ok {
			if !strings.HasPrefix(line, "//") {
				break
			}
			rule = true
			continue
		}
		if err := in.directive(text); err != nil {
			return nil, fmt.Errorf("line %d: %w", n+1, err)
		}
	}
	switch {
	case !rule:
		return nil, errors.New("the head must say in a comment which rule the file shows")
	case !in.expects() && in.fails+in.refused == "":
		return nil, errors.New("the head expects nothing: it needs an out, an error or a refusal")
	case len(in.out) > 0 && in.fails+in.refused != "":
		return nil, errors.New("the head expects both an out and an error")
	}
	return in, nil
}

func (in *instruction) directive(text string) (err error) {
	fields := strings.Fields(text)
	if len(fields) == 0 {
		return errors.New("the directive is empty")
	}
	rest := fields[1:]
	switch fields[0] {
	case "block":
		in.block, err = parseExtents(rest)
	case "grid":
		in.grid, err = parseExtents(rest)
	case "shared":
		var e device.Dim3
		e, err = parseExtents(rest)
		in.shared = e.X
	case "in":
		err = appendValues(&in.in, rest)
	case "out":
		err = appendValues(&in.out, rest)
	case "texture", "surface":
		var m *image
		m, err = parseImage(fields)
		in.images = append(in.images, m)
	case "holds":
		if len(in.images) == 0 || !in.images[len(in.images)-1].surface {
			return errors.New("holds belongs behind a surface")
		}
		var v values
		v, err = parseValues(rest)
		in.images[len(in.images)-1].holds = &v
	case "prints":
		var s string
		_, quoted, _ := strings.Cut(text, "prints")
		s, err = strconv.Unquote(strings.TrimSpace(quoted))
		in.prints += s
	case "error":
		in.fails = strings.Join(rest, " ")
	case "refused":
		in.refused = strings.Join(rest, " ")
	default:
		err = errors.New("directives are block, grid, shared, in, texture, surface, holds, out, prints, error and refused")
	}
	if err != nil {
		return fmt.Errorf("%s: %w", fields[0], err)
	}
	return nil
}

func appendValues(list *[]values, fields []string) error {
	v, err := parseValues(fields)
	*list = append(*list, v)
	return err
}

func parseExtents(fields []string) (device.Dim3, error) {
	n := [3]uint32{1, 1, 1}
	if len(fields) == 0 || len(fields) > 3 {
		return device.Dim3{}, errors.New("needs one to three numbers")
	}
	for i, s := range fields {
		v, err := strconv.ParseUint(s, 10, 31)
		if err != nil {
			return device.Dim3{}, err
		}
		n[i] = uint32(v)
	}
	return device.Dim3{X: n[0], Y: n[1], Z: n[2]}, nil
}
