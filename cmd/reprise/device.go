package main

import (
	"errors"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/device/model"
	"github.com/reprise-gpu/reprise/internal/devices"
	"github.com/reprise-gpu/reprise/internal/profiles"
	"github.com/reprise-gpu/reprise/internal/sim"
)

const defaultDevice = devices.Default

// openDevice opens the simulated device of an id: "sim:PROFILE" or "sim:FILE.json", or "sim"
// for the default profile. It sets the profile in o.
func openDevice(id string, o sim.Options) (*sim.Device, error) {
	p, err := lookupProfile(id)
	if err != nil {
		return nil, err
	}
	o.Custom = p
	return sim.New(o)
}

// raceFlag adds the flag --race, which enables the race detector of the simulated device.
func raceFlag(c *cobra.Command, on *bool) {
	c.Flags().BoolVar(on, "race", false, "also detect races between operations and in shared memory, and reads of memory that was never written;\na finding ends the run with status 1 (takes up to three times the host time)")
}

// checkSample checks --sample, and that --race is not given with it.
func checkSample(sample int64, race bool) error {
	switch {
	case sample < 0:
		return usagef("--sample %d: a number of blocks, 1 or more, or 0 for all", sample)
	case sample > 0 && race:
		return usagef("--race and --sample exclude each other: a sampled launch does not make all of its memory accesses")
	}
	return nil
}

func raceMode(on bool) sim.Race {
	if on {
		return sim.RaceOn
	}
	return sim.RaceOff
}

// lookupProfile returns the profile of a simulated device's id.
func lookupProfile(id string) (*model.Profile, error) {
	if _, ok := devices.Ordinal(id); ok {
		return nil, usagef("%s is a GPU, and this command requires a simulated device: use %s, or another one that reprise devices lists", id, defaultDevice)
	}
	p, err := devices.Profile(id)
	return p, asUsage(err)
}

// asUsage returns an error about an unknown id as a usage error.
func asUsage(err error) error {
	if errors.As(err, new(devices.IDError)) {
		return usageError{err}
	}
	return err
}

// findGPUs is gpus, except in tests.
var findGPUs = gpus

func newDevices() *cobra.Command {
	return &cobra.Command{
		Use:   "devices",
		Short: "List the devices of this machine",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			found, err := findGPUs()
			if err != nil {
				fmt.Fprintf(c.ErrOrStderr(), "no GPU: %v (see reprise doctor)\n", err)
			}
			return listDevices(c.OutOrStdout(), found)
		},
	}
}

// listDevices prints the GPUs and then the profiles that can be simulated.
func listDevices(to io.Writer, gpus []device.Info) error {
	w := tabwriter.NewWriter(to, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "DEVICE\tNAME\tSIMULATED\tCOMPUTE\tSMS\tCLOCK MHZ\tMEMORY GB\tGB/S\tPROFILE")
	for _, i := range gpus {
		listDevice(w, &i, "-")
	}
	for _, p := range profiles.All() {
		if err := listProfile(w, p, "detailed"); err != nil {
			return err
		}
	}
	for _, p := range profiles.Short() {
		if err := listProfile(w, p, "data sheet"); err != nil {
			return err
		}
	}
	return w.Flush()
}

func listProfile(w io.Writer, p *model.Profile, kind string) error {
	dev, err := sim.New(sim.Options{Profile: p.ID})
	if err != nil {
		return err
	}
	i := dev.Info()
	listDevice(w, &i, kind)
	return dev.Close()
}

// listDevice prints a device and the kind of its profile.
func listDevice(w io.Writer, i *device.Info, kind string) {
	fmt.Fprintf(w, "%s\t%s\t%s\t%d.%d\t%d\t%d\t%.0f\t%.0f\t%s\n", i.ID, i.Name, yesNo(i.Simulated),
		i.ComputeMajor, i.ComputeMinor, i.Multiprocessors, i.ClockMHz, float64(i.MemoryBytes)/1e9, i.MemoryGBps, kind)
}

func yesNo(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}
