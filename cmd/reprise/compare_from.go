package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/reprise-gpu/reprise/bench"
	"github.com/reprise-gpu/reprise/bench/compare"
)

// showCompared is compare --from: it shows what an earlier run measured.
func showCompared(c *cobra.Command, f *compareFlags, args []string) error {
	for _, name := range []string{"size", "threads", "memory", "strategy", "backend", "iterations", "rounds", "sample", "seed", "device"} {
		if c.Flags().Changed(name) {
			return usagef("--%s says what to measure, and --from measures nothing: leave one out", name)
		}
	}
	workloads, err := pickWorkloads(args)
	if err != nil {
		return err
	}
	all, err := readComparisons(f.from)
	if err != nil {
		return err
	}
	if all = ofWorkloads(all, workloads); len(all) == 0 {
		return errors.New("--from: none of the comparisons is of the workloads asked for")
	}
	return f.report(c, all, len(all), nil)
}

// readComparisons reads what compare wrote with --json. Of a folder it reads all files
// that end in .json. Means over different devices mean nothing, so there must be one.
func readComparisons(paths []string) (all []compare.Comparison, err error) {
	for _, path := range paths {
		files := []string{path}
		if info, err := os.Stat(path); err == nil && info.IsDir() {
			if files, err = filepath.Glob(filepath.Join(path, "*.json")); err != nil || len(files) == 0 {
				return nil, fmt.Errorf("--from %s: the folder holds no .json file", path)
			}
		}
		for _, file := range files {
			list, err := readComparisonsFile(file)
			if err != nil {
				return nil, fmt.Errorf("--from %s: %w", file, err)
			}
			if all = append(all, list...); all[0].Device != list[0].Device || all[0].Sample != list[0].Sample {
				return nil, fmt.Errorf("--from %s: it is of %s with --sample %d, and what is before it of %s with --sample %d: show one at a time",
					file, list[0].Device, list[0].Sample, all[0].Device, all[0].Sample)
			}
		}
	}
	return all, nil
}

func readComparisonsFile(path string) ([]compare.Comparison, error) {
	data, err := os.ReadFile(path)
	if failed := (*fs.PathError)(nil); errors.As(err, &failed) {
		return nil, failed.Err
	}
	if err != nil {
		return nil, err
	}
	var from comparisons
	if err := json.Unmarshal(data, &from); err != nil {
		return nil, fmt.Errorf("reprise compare --json did not write it: %w", err)
	}
	if len(from.Comparisons) == 0 {
		return nil, errors.New("it holds no comparison: reprise compare --json writes them")
	}
	return from.Comparisons, nil
}

// ofWorkloads keeps what is of the workloads, in their order.
func ofWorkloads(all []compare.Comparison, workloads []*bench.Workload) (of []compare.Comparison) {
	for _, w := range workloads {
		for _, c := range all {
			if c.Workload == w.Name {
				of = append(of, c)
			}
		}
	}
	return of
}
