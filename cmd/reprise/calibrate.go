package main

import (
	"errors"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/reprise-gpu/reprise/internal/bench/calibrate"
	"github.com/reprise-gpu/reprise/internal/release"
	"github.com/reprise-gpu/reprise/internal/sim"
)

// calibrateFlags are the flags of calibrate as given.
type calibrateFlags struct{ device, base, out string }

func newCalibrate() *cobra.Command {
	var f calibrateFlags
	c := &cobra.Command{
		Use:   "calibrate",
		Short: "Measure a device and write its profile, for --device sim:FILE.json",
		Long: `Calibrate measures the figures of a device profile: the host's cost of each driver call,
the gaps between pieces of work, copies, memory, caches, and the units of a
multiprocessor. It prints every figure beside that of the base profile. With -o, it writes
a profile for the simulated GPU. Figures that cannot be measured, such as the number of
registers, are those of the base profile, and the file states this. Use an idle device;
the spread shows how far samples lie apart.`,
		Example: `  reprise calibrate --device gpu0 -o mine.json
  reprise bench --device sim:mine.json`,
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error { return runCalibrate(c, &f) },
	}
	c.Flags().StringVar(&f.device, "device", defaultDevice, "device to measure; see reprise devices")
	c.Flags().StringVar(&f.base, "base", "", "profile for figures that cannot be measured (default: the nearest to the device)")
	c.Flags().StringVarP(&f.out, "output", "o", "", "write the profile to `FILE`.json")
	return c
}

func runCalibrate(c *cobra.Command, f *calibrateFlags) error {
	var o calibrate.Options
	if f.base != "" {
		p, err := lookupFile(strings.TrimPrefix(f.base, "sim:"))
		if err != nil {
			return err
		}
		o.Base = &p.Profile
	}
	if f.out != "" {
		if !strings.HasSuffix(f.out, ".json") {
			return usagef("-o %s: the name must end in .json, by which --device distinguishes files from profiles", f.out)
		}
		if err := checkWritable(f.out); err != nil {
			return err
		}
	}
	dev, err := openAny(f.device, sim.Options{})
	if err != nil {
		return err
	}
	ctx, stop := interruptible(c.Context())
	defer stop()
	progress := newProgress(c.ErrOrStderr(), "parts")
	o.Progress = progress.update
	res, err := calibrate.Run(ctx, dev, o)
	progress.finish()
	if err = errors.Join(err, dev.Close()); err != nil {
		return withProgress(err, "before the end: nothing was written")
	}
	if err := res.WriteTable(c.OutOrStdout()); err != nil || f.out == "" {
		return err
	}
	res.File.About += ", on " + time.Now().UTC().Format(time.DateOnly) + ", by reprise " + release.Version
	return writeFile(f.out, res.File.Text())
}
