package main

import (
	"cmp"
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
	var path string
	c := &cobra.Command{
		Use:   "devices",
		Short: "List the devices of this machine",
		Args:  noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			found, err := findGPUs()
			if err != nil {
				fmt.Fprintf(c.ErrOrStderr(), "no GPU: %v (see reprise doctor)\n", err)
			}
			all, err := listDevices(found)
			if err != nil {
				return err
			}
			return writeResults(c.OutOrStdout(), path, all, func(w io.Writer) error { return writeDevices(w, all) })
		},
	}
	jsonFlag(c, &path, "the list")
	return c
}

// deviceRecord is a device that --device accepts.
type deviceRecord struct {
	ID              string  `json:"id"`
	Name            string  `json:"name"`
	Simulated       bool    `json:"simulated"`
	Compute         string  `json:"compute"` // compute capability: "9.0"
	Multiprocessors int     `json:"multiprocessors"`
	ClockMHz        int     `json:"clock_mhz"`
	MemoryBytes     int64   `json:"memory_bytes"`
	MemoryGBps      float64 `json:"memory_gb_per_s"`
	Profile         string  `json:"profile,omitempty"` // of a simulated device: "detailed" or "data sheet"
}

// listDevices returns the GPUs and then the profiles that can be simulated.
func listDevices(gpus []device.Info) (all []deviceRecord, err error) {
	for i := range gpus {
		all = append(all, recordOf(&gpus[i], ""))
	}
	for _, p := range profiles.All() {
		if all, err = appendProfile(all, p, "detailed"); err != nil {
			return nil, err
		}
	}
	for _, p := range profiles.Short() {
		if all, err = appendProfile(all, p, "data sheet"); err != nil {
			return nil, err
		}
	}
	return all, nil
}

func appendProfile(all []deviceRecord, p *model.Profile, kind string) ([]deviceRecord, error) {
	dev, err := sim.New(sim.Options{Profile: p.ID})
	if err != nil {
		return nil, err
	}
	i := dev.Info()
	return append(all, recordOf(&i, kind)), dev.Close()
}

func recordOf(i *device.Info, profile string) deviceRecord {
	return deviceRecord{
		ID: i.ID, Name: i.Name, Simulated: i.Simulated, Compute: fmt.Sprintf("%d.%d", i.ComputeMajor, i.ComputeMinor),
		Multiprocessors: i.Multiprocessors, ClockMHz: i.ClockMHz, MemoryBytes: i.MemoryBytes, MemoryGBps: i.MemoryGBps, Profile: profile,
	}
}

// writeDevices prints devices as a table.
func writeDevices(to io.Writer, all []deviceRecord) error {
	w := tabwriter.NewWriter(to, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "DEVICE\tNAME\tSIMULATED\tCOMPUTE\tSMS\tCLOCK MHZ\tMEMORY GB\tGB/S\tPROFILE")
	for _, d := range all {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%d\t%d\t%.0f\t%.0f\t%s\n", d.ID, d.Name, yesNo(d.Simulated),
			d.Compute, d.Multiprocessors, d.ClockMHz, float64(d.MemoryBytes)/1e9, d.MemoryGBps, cmp.Or(d.Profile, "-"))
	}
	return w.Flush()
}

func yesNo(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}
