package main

import (
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/reprise-gpu/reprise/internal/bench/scale/programs"
	"github.com/reprise-gpu/reprise/optimizer"
)

// programFlags are the flags of run as given.
type programFlags struct {
	device   string
	strategy string
	backend  string
	replays  int
	set      []string
	in, out  []string
	json     string

	cluster clusterFlags
}

func newRun() *cobra.Command {
	var f programFlags
	c := &cobra.Command{
		Use:   "run " + programArg + "|PROGRAM",
		Short: "Run a program: on one device, or on several devices and processes",
		Long: `Run replays a program on one device, or with --machine on all devices of a machine.

  reprise run mine.rir --replays 100 --set alpha=0.1 --in x=x.npy --out y=y.npy

--in sets the contents of a buffer before the first replay, and --out writes those after the
last one. The end of the file's name selects the format: .npy of NumPy; .txt or .csv with
decimal numbers; else the bytes of the elements, little-endian. --set sets a parameter. Other
buffers have the contents that the file states, or zero. Without --out, the first elements of
the outputs are printed. Host calls do nothing. An error leaves the files of --out unchanged.

Several devices

--machine distributes each launch by its blocks. The machine is the name of a built-in one,
RANKSxDEVICES:PROFILE, or a file (docs/MACHINE.md). Its devices, links and network are
simulated unless --gpus is given. Without mpirun, all ranks of a simulated machine are in this
process; under mpirun, each process is one rank:

  mpirun -np 4 reprise run wave:512 --machine 4x1

Rank 0 prints

  us/replay  time from the first replay to the end of the last, over their number, without
             the first one, which distributes the contents; virtual on simulated devices
  max error  greatest difference from the result of the CPU, relative to its magnitude;
             of a program that has such a reference

Programs of several devices, which run on one device without --machine:
` + programsHelp() + `
` + programHelp(),
		Example: `  reprise run mine.rir --replays 100 --out x=x.npy
  reprise run vec:4096
  reprise run wave:1024 --machine h200-4
  reprise run nbody:4096 --machine 2x2:a100 --why`,
		Args:              oneArg(programArg + "|PROGRAM"),
		ValidArgsFunction: completeRunnable,
		RunE:              func(c *cobra.Command, args []string) error { return f.run(c, args[0]) },
	}
	c.Flags().StringVar(&f.device, "device", defaultDevice, "device to run on; see reprise devices")
	c.Flags().StringVar(&f.strategy, "strategy", optimizer.DefaultStrategy, "strategy that assigns operations to lanes, on one device")
	c.Flags().StringVar(&f.backend, "backend", "graph", "back end on one device: graph or streams")
	c.Flags().IntVar(&f.replays, "replays", 10, "number of replays")
	c.Flags().StringArrayVar(&f.set, "set", nil, "set a parameter, as in `NAME=VALUE`")
	c.Flags().StringArrayVar(&f.in, "in", nil, "set the contents of a buffer, as in `BUFFER=FILE`")
	c.Flags().StringArrayVar(&f.out, "out", nil, "write the contents of a buffer after the last replay, as in `BUFFER=FILE`")
	c.Flags().StringVar(&f.json, "json", "", "also write the record to `FILE` as a JSON array (- for standard output)")
	c.Flags().StringVar(&f.cluster.machine, "machine", "", "name or file of the machine whose devices share the program")
	c.Flags().BoolVar(&f.cluster.gpus, "gpus", false, "use the GPUs of each computer instead of simulated ones")
	c.Flags().BoolVar(&f.cluster.tiles, "tiles", false, "cut launches along two axes, so that a device has a tile of a matrix instead of rows")
	c.Flags().BoolVar(&f.cluster.why, "why", false, "also print how each operation is distributed")
	c.Flags().BoolVar(&f.cluster.plan, "plan", false, "also print the whole plan")
	c.Flags().StringVar(&f.cluster.checkpoints, "checkpoints", "", "continue from the last checkpoint in `DIR`, and write new ones")
	c.Flags().IntVar(&f.cluster.every, "every", 100, "replays from one checkpoint to the next")
	return c
}

// programsHelp lists the programs of several devices.
func programsHelp() string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, k := range programs.Kinds() {
		fmt.Fprintf(w, "  %s\t%s; %s\n", k.Name, k.Doc, k.Size())
	}
	w.Flush()
	return b.String()
}

// isDistributed reports whether an argument names a program of several devices.
func isDistributed(arg string) bool {
	name, _, _ := strings.Cut(arg, ":")
	return slices.ContainsFunc(programs.Kinds(), func(k *programs.Kind) bool { return k.Name == name })
}

func completeRunnable(c *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
	names, directive := completePrograms(c, args, begun)
	for _, k := range programs.Kinds() {
		if strings.HasPrefix(k.Name, begun) {
			names = append(names, k.Name+"\t"+k.Doc)
		}
	}
	return names, directive
}

// run selects where the program runs.
func (f *programFlags) run(c *cobra.Command, arg string) error {
	if f.replays < 1 {
		return usagef("--replays %d: at least 1 is needed", f.replays)
	}
	distributed := isDistributed(arg)
	if f.cluster.machine == "" && !distributed {
		if err := excluded(c, "--machine", "gpus", "tiles", "why", "plan", "checkpoints", "every"); err != nil {
			return err
		}
		return f.onDevice(c, arg)
	}
	if f.cluster.machine == "" {
		f.cluster.machine = "1x1"
	}
	f.cluster.replays, f.cluster.json = f.replays, f.json
	if err := excludes(c, "--machine", "device", "strategy", "backend"); err != nil {
		return err
	}
	if distributed {
		if err := excludes(c, arg+", which makes its own inputs,", "set", "in", "out"); err != nil {
			return err
		}
		return f.cluster.runKind(c, arg)
	}
	return f.onMachine(c, arg)
}

// excluded returns an error for a flag that requires another one.
func excluded(c *cobra.Command, needs string, flags ...string) error {
	for _, name := range flags {
		if c.Flags().Changed(name) {
			return usagef("--%s applies to several devices: add %s", name, needs)
		}
	}
	return nil
}

// excludes returns an error for a flag that something excludes.
func excludes(c *cobra.Command, what string, flags ...string) error {
	for _, name := range flags {
		if c.Flags().Changed(name) {
			return usagef("%s excludes --%s: leave one of them out", what, name)
		}
	}
	return nil
}
