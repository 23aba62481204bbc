package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/bench/calibrate"
	"github.com/reprise-gpu/reprise/internal/bench/validation"
	"github.com/reprise-gpu/reprise/internal/profiles"
	"github.com/reprise-gpu/reprise/internal/release"
	"github.com/reprise-gpu/reprise/internal/sim"
)

// recordFlags are the flags of validate --record as given.
type recordFlags struct {
	dir     string
	device  string
	profile string
	repeats int
}

func (f *recordFlags) add(c *cobra.Command) {
	c.Flags().StringVar(&f.dir, "record", "", "measure the rows on --device, and write them to `DIR`/train/rows.csv with their PTX and profile")
	c.Flags().StringVar(&f.device, "device", defaultDevice, "device to measure with --record; see reprise devices")
	c.Flags().StringVar(&f.profile, "profile", "", "profile of the device in the recorded rows: a name or FILE.json, as reprise calibrate writes it\n(default: the profile of a simulated device, or the nearest to a GPU)")
	c.Flags().IntVar(&f.repeats, "repeats", 10, "measurements of each recorded row, of which the mean counts; a simulated device is measured once")
}

// check refuses flags that do not go together.
func (f *recordFlags) check(c *cobra.Command) error {
	with, without := []string{"output", "json", "verbose"}, []string{"device", "profile", "repeats"}
	if f.dir == "" {
		for _, name := range without {
			if c.Flags().Changed(name) {
				return usagef("--%s is for --record DIR, which is missing", name)
			}
		}
		return nil
	}
	for _, name := range with {
		if c.Flags().Changed(name) {
			return usagef("--%s is not for --record, which writes rows: run reprise validate on them afterwards", name)
		}
	}
	if f.repeats < 1 {
		return usagef("--repeats %d: at least 1 is needed", f.repeats)
	}
	return checkDevice(f.device)
}

// run measures the rows and writes them. An interrupt keeps the rows that are done.
func (f *recordFlags) run(c *cobra.Command, sets []*validation.Set, only string) error {
	if len(sets) > 1 {
		return usagef("--record takes the rows of one file, and %d are given", len(sets))
	}
	o, profile, err := f.recording()
	if err != nil {
		return err
	}
	if err := validation.NewFolder(f.dir); err != nil {
		return err
	}
	var left []validation.LeftOut
	rows, stopped := watched(c, "rows", func(ctx context.Context, update progressFunc) (rows []validation.Row, err error) {
		o.Progress = update
		rows, left, err = validation.Record(ctx, sets[0], only, o)
		return rows, err
	})
	for _, l := range left {
		fmt.Fprintf(c.ErrOrStderr(), "reprise: left out %s: %v\n", l.ID, l.Reason)
	}
	if len(rows) == 0 {
		return errors.Join(withProgress(stopped, "before the first row"), fmt.Errorf("no row was recorded"))
	}
	path, err := validation.WriteFolder(f.dir, sets[0], rows, profile)
	if err != nil {
		return err
	}
	fmt.Fprintf(c.OutOrStdout(), "%s: %d rows of %s, %d left out\n", path, len(rows), o.GPU, len(left))
	return withProgress(stopped, "after %d rows, which are written", len(rows))
}

// recording describes the recording. profile is the text of the profile if that is a file.
func (f *recordFlags) recording() (o validation.Recording, profile []byte, err error) {
	o = validation.Recording{
		Repeats: f.repeats, Commit: release.Version,
		Open: func(sample int64) (device.Device, error) { return openRecorded(f.device, sample) },
	}
	dev, err := o.Open(0)
	if err != nil {
		return o, nil, err
	}
	info := dev.Info()
	if err := dev.Close(); err != nil {
		return o, nil, err
	}
	o.GPU = gpuName(info)
	if !info.Simulated {
		o.Note = "recorded on " + time.Now().UTC().Format(time.DateOnly)
	}
	if o.Profile = f.profile; o.Profile == "" {
		o.Profile = profileOf(f.device, info)
	}
	file, err := lookupFile(o.Profile)
	if err != nil {
		return o, nil, err
	}
	if strings.HasSuffix(o.Profile, ".json") {
		o.Profile, profile = filepath.Base(o.Profile), file.Text()
	}
	return o, profile, nil
}

// openRecorded opens a device for one row. Only a simulated one runs some blocks of a launch.
func openRecorded(id string, sample int64) (device.Device, error) {
	if !strings.HasPrefix(id, "sim") {
		sample = 0
	}
	return openAny(id, sim.Options{Sample: sample})
}

// profileOf returns the profile of a device, or the nearest to a GPU.
func profileOf(id string, info device.Info) string {
	if name, ok := strings.CutPrefix(id, "sim"); ok {
		if name = strings.TrimPrefix(name, ":"); name != "" {
			return name
		}
		return profiles.All()[0].ID
	}
	return calibrate.Nearest(info).ID
}

// gpuName is the name of a GPU in the rows: "h100-80gb-hbm3".
func gpuName(info device.Info) string {
	words := strings.FieldsFunc(strings.ToLower(info.Name), func(r rune) bool { return !('a' <= r && r <= 'z' || '0' <= r && r <= '9') })
	if len(words) > 1 && words[0] == "nvidia" {
		words = words[1:]
	}
	return strings.Join(words, "-")
}
