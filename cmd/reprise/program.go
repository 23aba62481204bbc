package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/bench"
	"github.com/reprise-gpu/reprise/internal/bench/tenants"
	"github.com/reprise-gpu/reprise/internal/sim"
	"github.com/reprise-gpu/reprise/ir"
)

// programArg is how help texts call a program: what pickProgram accepts.
const programArg = "WORKLOAD|FILE.rir"

// programHelp explains the argument and lists the workloads.
func programHelp() string {
	return `A program is a workload, as in img or, with a size, img:512; or the path of a saved program,
which ends in .rir (- is standard input). reprise trace and Trace.Save write such files.
Its inputs are the contents that the file states, and zero where it states none; its
results are compared with those of a serial replay. Host calls do nothing.

Workloads:
` + servedHelp()
}

// isFile reports whether an argument names a saved program.
func isFile(arg string) bool { return arg == "-" || strings.HasSuffix(arg, ".rir") }

// pickProgram returns the program of an argument: WORKLOAD, WORKLOAD:SIZE, FILE.rir, or - for standard input.
func pickProgram(c *cobra.Command, arg string) (*bench.Workload, error) {
	if isFile(arg) {
		name, file, err := readProgram(c, arg)
		if err != nil {
			return nil, err
		}
		return bench.OfFile(name, file), nil
	}
	name, size, sized := strings.Cut(arg, ":")
	if sized && strings.HasSuffix(name, ".rir") {
		return nil, usagef("%s: the size of a saved program is in the file: write %s", arg, name)
	}
	w, err := bench.LookupWorkload(name)
	if err != nil {
		return nil, usageError{withFileHint(arg, err)}
	}
	if !sized {
		return w, nil
	}
	if size == "tiny" {
		return asProgram(w.Sized(w.Tiny))
	}
	n, err := strconv.Atoi(size)
	if err != nil || n < 1 {
		return nil, usagef("%s: write the size as a number behind the workload, as in %s:%d, or tiny", arg, name, w.Sizes[0])
	}
	return asProgram(w.Sized(n))
}

// asProgram returns an error about a size as a usage error.
func asProgram(w *bench.Workload, err error) (*bench.Workload, error) {
	if err != nil {
		return nil, usageError{err}
	}
	return w, nil
}

// withFileHint adds to an error about an unknown workload how a file is named, if the argument looks like a path.
func withFileHint(arg string, err error) error {
	if strings.ContainsAny(arg, "/.") {
		return fmt.Errorf("%w; the name of a saved program ends in .rir", err)
	}
	return err
}

// pickPrograms returns the programs of several arguments, each once, and all workloads of the suite if there are none.
func pickPrograms(c *cobra.Command, args []string) (picked []*bench.Workload, err error) {
	if len(args) == 0 {
		return bench.Workloads(), nil
	}
	for i, arg := range args {
		if slices.Contains(args[:i], arg) {
			continue
		}
		w, err := pickProgram(c, arg)
		if err != nil {
			return nil, err
		}
		picked = append(picked, w)
	}
	return picked, nil
}

// fileOf returns a program as a file, for commands that run nothing. A workload is traced on a simulated device with its
// default size; a saved graph may lack PTX.
func fileOf(c *cobra.Command, arg, deviceID string) (name string, f *ir.File, err error) {
	if isFile(arg) {
		return readProgram(c, arg)
	}
	w, err := pickProgram(c, arg)
	if err != nil {
		return arg, nil, err
	}
	dev, err := openDevice(deviceID, sim.Options{})
	if err != nil {
		return arg, nil, err
	}
	defer func() { err = device.Join(err, dev.Close()) }()
	in, err := w.New(dev, bench.Params{Size: w.Sizes[0], Seed: 1})
	if err != nil {
		return arg, nil, err
	}
	defer func() { err = device.Join(err, in.Close()) }()
	return arg, &ir.File{Graph: in.Trace.Graph}, nil
}

// programOf returns a program with the parameters of the flags, for commands that take one. Size 0 is its smallest.
func programOf(c *cobra.Command, arg string, size int, flags *dataFlags, sample int64) (p tenants.Program, err error) {
	w, err := pickProgram(c, arg)
	if err != nil {
		return p, err
	}
	params, err := paramsOf(w, size, flags, sample, "")
	if err != nil {
		return p, err
	}
	return tenants.OfWorkload(w, params), nil
}

// paramsOf returns the parameters of a program. Size 0 is its smallest, and kernel "" its own.
func paramsOf(w *bench.Workload, size int, flags *dataFlags, sample int64, kernel string) (p bench.Params, err error) {
	var data bench.Config
	if err := flags.parse(&data); err != nil {
		return p, err
	}
	if size == 0 {
		size = w.Tiny
	}
	data.Sample = sample
	p = data.Params(size)
	p.Kernel = kernel
	err = w.Takes(&p)
	if err == nil {
		err = w.Fits(size)
	}
	if err != nil {
		return p, usageError{err}
	}
	return p, nil
}

// completePrograms completes an argument that names a program.
func completePrograms(_ *cobra.Command, _ []string, begun string) ([]string, cobra.ShellCompDirective) {
	var names []string
	for _, w := range slices.Concat(bench.Workloads(), bench.ServedWorkloads()) {
		if strings.HasPrefix(w.Name, begun) {
			names = append(names, w.Name+"\t"+w.Doc)
		}
	}
	return append(names, completeFiles(begun)...), cobra.ShellCompDirectiveNoFileComp
}

// completeFiles completes the path of a saved program: files in .rir, and folders.
func completeFiles(begun string) (paths []string) {
	files, _ := filepath.Glob(globbed(begun) + "*.rir")
	folders, _ := filepath.Glob(globbed(begun) + "*/")
	return append(files, folders...)
}

// globbed quotes the characters that have a meaning in a pattern.
func globbed(path string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(path)
}
