package main

import (
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/bench"
	"github.com/reprise-gpu/reprise/internal/ptx"
	"github.com/reprise-gpu/reprise/internal/ptx/access"
	"github.com/reprise-gpu/reprise/internal/sim"
)

// runFlags are the flags of kernel run as given.
type runFlags struct {
	device      string
	entry       string
	grid, block string
	shared      int64
	args        []string
	outs        []string
	sample      int64
	race        bool
	profile     bool
	json        string
}

func newKernelRun() *cobra.Command {
	var f runFlags
	c := &cobra.Command{
		Use:   "run FILE.ptx",
		Short: "Run one kernel on buffers given on the command line",
		Long: `Run launches one kernel of a PTX file once and prints every buffer afterwards,
or writes it to a file. Arguments follow the kernel's parameters:

  i32=5            a scalar
  buf:f32=1,2,3    a buffer with these elements
  buf:u8@FILE      a buffer with the bytes of a file
  zero:f32*1024    a buffer of 1024 zeros

With --sample, it prints the predicted time of the launch instead. With --profile, it
prints these counts:

` + profileColumns,
		Example: `  reprise kernel run square.ptx --entry square --grid 1 --block 32 \
    --arg buf:f32=1,2,3 --arg zero:f32*3 --arg i32=3`,
		Args: oneArg("FILE.ptx"),
		RunE: func(c *cobra.Command, args []string) error { return f.run(c, args[0]) },
	}
	c.Flags().StringVar(&f.device, "device", defaultDevice, "device to run on; see reprise devices")
	c.Flags().StringVar(&f.entry, "entry", "", "kernel to run; may be omitted if the file has one")
	c.Flags().StringVar(&f.grid, "grid", "1", "blocks, as `X[,Y[,Z]]`")
	c.Flags().StringVar(&f.block, "block", "1", "threads per block, as `X[,Y[,Z]]`")
	c.Flags().Int64Var(&f.shared, "shared", 0, "dynamic shared memory in `BYTES`")
	c.Flags().StringArrayVar(&f.args, "arg", nil, "the next argument, see above")
	c.Flags().StringArrayVar(&f.outs, "out", nil, "write the buffer of argument N, counted from 0, to a file instead of printing it: `N=FILE`")
	c.Flags().Int64Var(&f.sample, "sample", 0, sampleHelp)
	raceFlag(c, &f.race)
	c.Flags().BoolVar(&f.profile, "profile", false, "print what the launch counts instead of the buffers")
	jsonFlag(c, &f.json, "the launch and the buffers")
	return c
}

// launchPlan is a checked command line.
type launchPlan struct {
	kernel      *ptx.Func
	grid, block device.Dim3
	shared      uint32
	args        []argument
	outs        map[int]string // by argument
	profile     []bench.KernelProfile
}

func (f *runFlags) run(c *cobra.Command, path string) error {
	module, source, err := readModule(path)
	if err != nil {
		return err
	}
	plan, err := f.plan(module)
	if err != nil {
		return err
	}
	var ran sim.Span
	dev, err := openDevice(f.device, sim.Options{Sample: f.sample, Race: raceMode(f.race), Trace: func(s sim.Span) {
		if s.Kind == "launch" {
			ran = s
		}
	}})
	if err != nil {
		return err
	}
	if err := plan.makeZeros(dev.Info().MemoryBytes); err != nil {
		return device.Join(err, dev.Close())
	}
	dev.StartTimeline()
	err = plan.launch(dev, path, source)
	profile := bench.ProfileTimeline(dev)
	err = device.Join(err, dev.Close())
	for _, w := range dev.Findings() {
		if w.Warning {
			fmt.Fprintln(c.ErrOrStderr(), w)
		}
	}
	if err != nil {
		return err
	}
	if f.profile {
		plan.profile = profile
	}
	for n, to := range plan.outs {
		if err := writeFile(to, plan.args[n].data); err != nil {
			return err
		}
	}
	record := plan.record(dev.Info(), ran.End-ran.Begin, f.sample)
	if f.json != "" {
		record.list()
	}
	return writeResults(c.OutOrStdout(), f.json, record, record.write)
}

func (f *runFlags) plan(module *ptx.Module) (p launchPlan, err error) {
	if p.kernel, err = pickEntry(module, f.entry); err != nil {
		return p, err
	}
	if p.grid, err = parseDim("grid", f.grid); err != nil {
		return p, err
	}
	if p.block, err = parseDim("block", f.block); err != nil {
		return p, err
	}
	if f.shared < 0 || f.shared > 1<<31 {
		return p, usagef("--shared %d: a number of bytes from 0 to 2^31", f.shared)
	}
	if err := checkSample(f.sample, f.race); err != nil {
		return p, err
	}
	if f.profile && len(f.outs) > 0 {
		return p, usagef("--out and --profile exclude each other: a profile is printed instead of the buffers")
	}
	if f.sample > 0 && len(f.outs) > 0 {
		return p, usagef("--out and --sample exclude each other: a sampled launch computes nothing to write")
	}
	p.shared = uint32(f.shared)
	if err := p.parseArgs(module, f.args); err != nil {
		return p, err
	}
	return p, p.parseOuts(f.outs)
}

func pickEntry(module *ptx.Module, name string) (*ptx.Func, error) {
	var entries []*ptx.Func
	var names []string
	for _, k := range module.Funcs {
		if !k.Entry {
			continue
		}
		if k.Name == name {
			return k, nil
		}
		entries, names = append(entries, k), append(names, k.Name)
	}
	switch {
	case len(entries) == 0:
		return nil, fmt.Errorf("%s has no kernel", module.File)
	case name != "":
		return nil, usagef("--entry %s: %s has %s", name, module.File, strings.Join(names, ", "))
	case len(entries) > 1:
		return nil, usagef("%s has several kernels: choose one with --entry: %s", module.File, strings.Join(names, ", "))
	}
	return entries[0], nil
}

// parseDim reads "X", "X,Y" or "X,Y,Z".
func parseDim(flag, text string) (device.Dim3, error) {
	dims := [3]uint32{1, 1, 1}
	fields := strings.Split(text, ",")
	if len(fields) > 3 {
		return device.Dim3{}, usagef("--%s %s: at most three extents", flag, text)
	}
	for i, field := range fields {
		n, err := strconv.ParseUint(strings.TrimSpace(field), 10, 31)
		if err != nil || n == 0 {
			return device.Dim3{}, usagef("--%s %s: every extent is a number from 1 to 2^31-1", flag, text)
		}
		dims[i] = uint32(n)
	}
	return device.Dim3{X: dims[0], Y: dims[1], Z: dims[2]}, nil
}

func (p *launchPlan) parseArgs(module *ptx.Module, texts []string) error {
	params := p.kernel.Params
	if len(texts) != len(params) {
		return usagef("%s takes %d arguments (%s), and %d are given with --arg", p.kernel.Name, len(params), signature(module, p.kernel), len(texts))
	}
	for i, text := range texts {
		a, err := parseArgument(text)
		if err != nil {
			return err
		}
		size := params[i].Size()
		if a.buffer && size != 8 {
			return usagef("--arg %s: parameter %d of %s is a %v, not a pointer", text, i, p.kernel.Name, params[i].Type)
		}
		if float := params[i].Type.Float(); !a.buffer && a.elem.Size() == size && a.elem.Float() != float && isNumber(params[i].Type) {
			return usagef("--arg %s: parameter %d of %s is a %v", text, i, p.kernel.Name, params[i].Type)
		}
		if !a.buffer && a.elem.Size() != size {
			return usagef("--arg %s: parameter %d of %s has %d bytes, and %v has %d", text, i, p.kernel.Name, size, a.elem, a.elem.Size())
		}
		p.args = append(p.args, a)
	}
	return nil
}

// makeZeros makes the buffers of zeros. It returns an error if all buffers together exceed the device's memory.
func (p *launchPlan) makeZeros(limit int64) error {
	left := limit
	for i := range p.args {
		a := &p.args[i]
		size := int64(len(a.data)) + a.zeros
		if size > left {
			return usagef("--arg %s: the buffer has %d bytes, and only %d of the device's %d bytes are left", a.text, size, left, limit)
		}
		left -= size
	}
	for i := range p.args {
		a := &p.args[i]
		a.data, a.zeros = append(a.data, make([]byte, a.zeros)...), 0
	}
	return nil
}

// isNumber reports whether values of the type are numbers. Untyped bits, such as b32, are not.
func isNumber(t ptx.Type) bool { return t >= ptx.U8 }

// signature lists the parameter types, "u64, u64, u32".
func signature(m *ptx.Module, k *ptx.Func) string {
	var types []string
	for _, p := range access.Signature(m, k) {
		types = append(types, p.Type)
	}
	return strings.Join(types, ", ")
}

func (p *launchPlan) parseOuts(texts []string) error {
	p.outs = map[int]string{}
	for _, text := range texts {
		number, path, ok := strings.Cut(text, "=")
		n, err := strconv.Atoi(number)
		if !ok || err != nil || path == "" {
			return usagef("--out %s: write it as N=FILE", text)
		}
		if n < 0 || n >= len(p.args) || !p.args[n].buffer {
			return usagef("--out %s: argument %d is not a buffer", text, n)
		}
		if _, twice := p.outs[n]; twice {
			return usagef("--out %s: argument %d is written twice", text, n)
		}
		p.outs[n] = path
	}
	return nil
}

// launch runs the kernel and reads the buffers back into the arguments.
func (p *launchPlan) launch(dev device.Device, file, source string) error {
	module, err := dev.LoadModule(file, source)
	if err != nil {
		return err
	}
	function, err := dev.Function(module, p.kernel.Name)
	if err != nil {
		return err
	}
	stream, err := dev.CreateStream(0)
	if err != nil {
		return err
	}
	pointers, params, err := p.upload(dev)
	if err != nil {
		return err
	}
	work := &device.Launch{Function: function, Grid: p.grid, Block: p.block, Shared: p.shared, Params: params}
	if err := dev.Submit(stream, work); err != nil {
		return err
	}
	if err := dev.Synchronize(stream); err != nil {
		return err
	}
	for i := range p.args {
		if a := &p.args[i]; len(a.data) > 0 && a.buffer {
			if err := dev.Read(a.data, pointers[i]); err != nil {
				return err
			}
		}
	}
	return nil
}

// upload allocates and fills the buffers and packs the parameter block.
func (p *launchPlan) upload(dev device.Device) (pointers []device.Ptr, block []byte, err error) {
	pointers = make([]device.Ptr, len(p.args))
	for i, a := range p.args {
		bits := a.scalar
		if a.buffer {
			if pointers[i], err = dev.Alloc(int64(len(a.data))); err != nil {
				return nil, nil, err
			}
			bits = uint64(pointers[i])
			if len(a.data) > 0 {
				if err = dev.Write(pointers[i], a.data); err != nil {
					return nil, nil, err
				}
			}
		}
		v := p.kernel.Params[i]
		block = append(block, make([]byte, v.Offset-len(block))...)
		block = binary.LittleEndian.AppendUint64(block, bits)[:v.Offset+int(v.Size())]
	}
	return pointers, block, nil
}
