package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/bench"
	"github.com/reprise-gpu/reprise/internal/release"
	"github.com/reprise-gpu/reprise/internal/sim"
	"github.com/reprise-gpu/reprise/internal/traced"
	"github.com/reprise-gpu/reprise/ir"
)

// traceFlags are the flags of trace as given.
type traceFlags struct {
	device, size string
	contents     bool
	data         dataFlags
	saved        savedFlags
}

func newTrace() *cobra.Command {
	var f traceFlags
	c := &cobra.Command{
		Use:   "trace " + programArg + " -o FILE.rir",
		Short: "Trace a workload and save it as a program",
		Long: `Trace records one iteration of a workload and writes it as text: the operations,
the bytes each reads and writes, and the PTX of its kernels. With --contents, it also
writes the inputs, so that replays of the file compute what the workload computes. Of a
saved program, it writes the same program in the present format.

` + programHelp(),
		Example: `  reprise trace img -o img.rir && reprise opt img.rir --strategy nimble
  reprise trace img --size tiny --contents -o img.rir && reprise run img.rir`,
		Args:              oneArg(programArg),
		ValidArgsFunction: completePrograms,
		RunE:              func(c *cobra.Command, args []string) error { return f.run(c, args[0]) },
	}
	f.saved.add(c, "trace")
	c.Flags().StringVar(&f.device, "device", defaultDevice, "device whose launch shapes are traced; see reprise devices")
	c.Flags().StringVar(&f.size, "size", "", "problem size, "+tinyHelp+" (default the workload's first)")
	c.Flags().BoolVar(&f.contents, "contents", false, "also save the contents of the buffers")
	f.data.add(c)
	return c
}

func (f *traceFlags) run(c *cobra.Command, arg string) (err error) {
	if err := f.saved.check("trace"); err != nil {
		return err
	}
	w, err := pickProgram(c, arg)
	if err != nil {
		return err
	}
	sizes, err := pickSizes(words(f.size), []*bench.Workload{w})
	if err != nil {
		return err
	}
	params, err := paramsOf(w, w.SizesOf(sizes)[0], &f.data, 0, "")
	if err != nil {
		return err
	}
	dev, err := openAny(f.device, sim.Options{})
	if err != nil {
		return err
	}
	defer func() { err = device.Join(err, dev.Close()) }()
	in, err := w.New(dev, params)
	if err != nil {
		return err
	}
	defer func() { err = device.Join(err, in.Close()) }()
	saved := &ir.File{Tool: release.Tool, Graph: in.Trace.Graph}
	if f.contents {
		if err := in.Reset(); err != nil {
			return err
		}
		if saved, err = traced.FileOf(in.Trace); err != nil {
			return err
		}
	}
	return f.saved.write(c, saved, func(r *savedRecord) string {
		return fmt.Sprintf("%d operations on %d buffers", r.Operations, r.Buffers)
	})
}

// words returns a list of one word, and nil for none.
func words(word string) []string {
	if word == "" {
		return nil
	}
	return []string{word}
}
