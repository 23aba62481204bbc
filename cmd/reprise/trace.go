package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/bench"
	"github.com/reprise-gpu/reprise/internal/sim"
	"github.com/reprise-gpu/reprise/ir"
)

func newTrace() *cobra.Command {
	var deviceID, out string
	var size string
	var data dataFlags
	c := &cobra.Command{
		Use:   "trace WORKLOAD -o FILE.rir",
		Short: "Trace a workload and save the graph with its PTX",
		Long: `Trace records one iteration of a workload and writes it as text: the operations,
the bytes each reads and writes, and the PTX of its kernels.

Workloads:
` + servedHelp(),
		Example: `  reprise trace img -o img.rir && reprise opt img.rir --strategy nimble`,
		Args:    oneArg("workload"),
		RunE: func(c *cobra.Command, args []string) (err error) {
			w, err := bench.LookupWorkload(args[0])
			if err != nil {
				return usageError{err}
			}
			if out == "" {
				return usagef("-o is missing: name the file for the trace (- for standard output)")
			}
			n := w.Sizes[0]
			if size != "" {
				sizes, err := pickSizes([]string{size}, []*bench.Workload{w})
				if err != nil {
					return err
				}
				n = w.SizesOf(sizes)[0]
			}
			var config bench.Config
			if err := data.parse(&config); err != nil {
				return err
			}
			dev, err := openAny(deviceID, sim.Options{})
			if err != nil {
				return err
			}
			defer func() { err = device.Join(err, dev.Close()) }()
			in, err := w.New(dev, config.Params(n))
			if err != nil {
				return err
			}
			defer func() { err = device.Join(err, in.Close()) }()
			if out == "-" {
				_, err = c.OutOrStdout().Write(ir.Format(in.Trace.Graph, nil))
				return err
			}
			if err := writeFile(out, ir.Format(in.Trace.Graph, nil)); err != nil {
				return err
			}
			_, err = fmt.Fprintf(c.ErrOrStderr(), "%s: %d operations on %d buffers\n", out, in.Trace.Graph.Len(), len(in.Trace.Graph.Buffers))
			return err
		},
	}
	c.Flags().StringVarP(&out, "output", "o", "", "write the trace to `FILE` (- for standard output)")
	c.Flags().StringVar(&deviceID, "device", defaultDevice, "device whose launch shapes are traced; see reprise devices")
	c.Flags().StringVar(&size, "size", "", "problem size, "+tinyHelp+" (default the workload's first)")
	data.add(c)
	return c
}
