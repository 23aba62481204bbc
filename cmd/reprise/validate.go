package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/reprise-gpu/reprise/internal/bench/figure"
	"github.com/reprise-gpu/reprise/internal/bench/validation"
)

// validateFlags are the flags of validate as given.
type validateFlags struct {
	only    string
	verbose bool
	refit   bool
	json    bool
	out     []string
	record  recordFlags
}

func newValidate() *cobra.Command {
	var f validateFlags
	c := &cobra.Command{
		Use:   "validate [FILE.csv...]",
		Short: "Compare predicted times of kernels with measured ones",
		Long: `Validate runs measured kernels on the simulated GPU, launched and timed as the measurement
was, and prints how far the predicted times are from the measured ones. Without a file,
the rows are published measurements that are part of reprise.

A file of rows is CSV; its format is in internal/bench/validation/data/README.md. For
DIR/train/rows.csv, the kernels are in DIR/ptx and the device profiles in DIR/profiles.

The statistics are of the ratio predicted/measured, for all rows but those of the class
launch, and by class, GPU, set and kernel:

  geomean  geometric mean of the ratios
  median   of the errors, |ratio - 1|
  mean     of the errors
  p90      90th percentile of the errors, and of the factor that a row is off either way
  worst    the ratio farthest from 1, and its row

--refit adds a cross-validation, which takes ten times as long. Each GPU, and then each
kernel, is held out in turn: the estimated constants of the model are fitted to all other
rows, and the rows held out are predicted with them. It prints the errors of these
predictions, and the range of each fitted constant as factors of its value in the profiles.

With --record, the rows are measured on a device and written as a new set of rows. A GPU
has no profiler here, so rows of mode span are recorded as stream:8, and rows of mode
coldspan as cold. Rows that differ only in the GPU are measured once.

The exit status is 1 if a row fails.`,
		Example: `  reprise validate
  reprise validate --only matmul -v
  reprise validate mine/train/rows.csv -o errors.svg -o errors.csv
  reprise validate --record mine --device gpu0 --profile mine.json`,
		RunE: func(c *cobra.Command, args []string) error { return f.run(c, args) },
	}
	c.Flags().StringVar(&f.only, "only", "", "only rows whose id contains `TEXT`")
	c.Flags().BoolVarP(&f.verbose, "verbose", "v", false, "also print every row: measured us, predicted us, ratio, and what bounds the kernel")
	c.Flags().BoolVar(&f.refit, "refit", false, "also fit the constants without each GPU and each kernel, and predict those")
	c.Flags().BoolVar(&f.json, "json", false, "print JSON instead of tables")
	c.Flags().StringSliceVarP(&f.out, "output", "o", nil, "also write `FILE`: predicted over measured times as a plot (.svg, .png), or the predictions (.csv, .json)")
	f.record.add(c)
	return c
}

func (f *validateFlags) run(c *cobra.Command, files []string) error {
	if err := f.check(c, files); err != nil {
		return err
	}
	sets, err := openSets(files)
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(sets, func(s *validation.Set) bool { return s.Has(f.only) }) {
		return fmt.Errorf("--only %q: no row has an id that contains it", f.only)
	}
	if f.record.dir != "" {
		return f.record.run(c, sets, f.only)
	}
	results, err := watched(c, "rows", func(ctx context.Context, update progressFunc) ([]validation.Result, error) {
		return validation.Predict(ctx, sets, f.only, update)
	})
	if err != nil {
		return withProgress(err, "after %d rows; nothing was written", len(results))
	}
	summary := validation.Summarize(results)
	if f.refit {
		summary.Held, err = watched(c, "rows", func(ctx context.Context, update progressFunc) ([]validation.HeldOut, error) {
			return validation.Refit(ctx, sets, f.only, results, update)
		})
		if err != nil {
			return withProgress(err, "while it fitted constants; nothing was written")
		}
	}
	return f.report(c.OutOrStdout(), results, summary)
}

// check checks the flags and whether the files can be written.
func (f *validateFlags) check(c *cobra.Command, files []string) error {
	if f.refit && f.record.dir != "" {
		return usagef("--refit is for predicted times: use it without --record, on the rows that --record wrote")
	}
	for _, file := range files {
		if filepath.Ext(file) == ".json" {
			return usagef("%s is not a file of rows: --json prints to standard output, and -o %[1]s writes a file", file)
		}
	}
	if err := f.record.check(c); err != nil {
		return err
	}
	for _, file := range f.out {
		if !slices.Contains([]string{".svg", ".png", ".csv", ".json"}, filepath.Ext(file)) {
			return usagef("-o %s: the name must end in .svg, .png, .csv or .json", file)
		}
		if err := checkWritable(file); err != nil {
			return err
		}
	}
	return nil
}

// openSets opens files of rows, or the embedded rows if there are none.
func openSets(files []string) (sets []*validation.Set, err error) {
	if len(files) == 0 {
		return []*validation.Set{validation.Data()}, nil
	}
	for _, file := range files {
		s, err := validation.Open(file)
		var failed *fs.PathError
		if errors.As(err, &failed) {
			return nil, fmt.Errorf("cannot read %s: %w", file, failed.Err)
		}
		if err != nil {
			return nil, err
		}
		if len(s.Rows) == 0 {
			return nil, fmt.Errorf("%s has no rows below its heading", file)
		}
		sets = append(sets, s)
	}
	return sets, nil
}

// report prints and writes the results. It returns an error if a row failed.
func (f *validateFlags) report(stdout io.Writer, results []validation.Result, summary *validation.Summary) error {
	report := validation.NewReport(results, summary)
	for _, file := range f.out {
		if err := writeValidation(file, results, report); err != nil {
			return err
		}
	}
	if err := f.print(stdout, results, report); err != nil {
		return err
	}
	if report.Failed > 0 {
		return fmt.Errorf("%d of %d rows failed", report.Failed, len(results))
	}
	return nil
}

func (f *validateFlags) print(stdout io.Writer, results []validation.Result, report *validation.Report) error {
	if f.json {
		return writeJSON("-", stdout, report)
	}
	if f.verbose {
		if err := validation.WriteRows(stdout, results); err != nil {
			return err
		}
	}
	return validation.WriteTable(stdout, results, report.Summary)
}

// writeValidation writes one file of -o. Its suffix is one of those that check accepts.
func writeValidation(file string, results []validation.Result, report *validation.Report) error {
	switch filepath.Ext(file) {
	case ".csv":
		return writeFile(file, validation.Table(results))
	case ".json":
		return writeJSON(file, nil, report)
	}
	return writeError(file, figure.WriteValidation(file, report))
}
