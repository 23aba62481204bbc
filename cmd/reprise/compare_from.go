package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/reprise-gpu/reprise/internal/bench"
	"github.com/reprise-gpu/reprise/internal/bench/compare"
)

// showCompared is compare --from: it prints the results of earlier runs.
func showCompared(c *cobra.Command, f *compareFlags, args []string) error {
	for _, name := range []string{"size", "threads", "memory", "strategy", "backend", "iterations", "rounds", "sample", "seed", "device", "baseline", "libcudasim", "burst", "also"} {
		if c.Flags().Changed(name) {
			return usagef("--%s says what to measure, and --from measures nothing: leave one out", name)
		}
	}
	if err := f.checkRatio(); err != nil {
		return err
	}
	if err := f.checkPublished(); err != nil {
		return err
	}
	names, err := comparedNames(c, args)
	if err != nil {
		return err
	}
	if len(f.from) == 0 {
		return usagef("--from: name a file, or a folder of such files")
	}
	all, err := readComparisons(c, f.from)
	if err != nil {
		return err
	}
	known := inOrder(all)
	if len(args) == 0 {
		names = known
	}
	if all = ofPrograms(all, names); len(all) == 0 {
		return fmt.Errorf("--from: the files contain no comparison of %s: they have %s", strings.Join(names, ", "), strings.Join(known, ", "))
	}
	if i := slices.IndexFunc(all, ofSaved); i >= 0 && (f.plot != "" || f.published != "") {
		return savedHasNoCPP(all[i].Workload)
	}
	for _, line := range mixed(all) {
		fmt.Fprintf(c.ErrOrStderr(), "reprise: --from: %s\n", line)
	}
	return f.report(c, all, len(all), nil)
}

// mixed returns warnings if the comparisons were measured at several commits, or with several versions of a workload's
// kernels. Their means then describe no single version of the program.
func mixed(all []compare.Comparison) (lines []string) {
	of := func(value func(*compare.Row) string) (list []string) {
		for i := range all {
			for k := range all[i].Rows {
				if v := value(&all[i].Rows[k]); v != "" && !slices.Contains(list, v) {
					list = append(list, v)
				}
			}
		}
		return list
	}
	if commits := of(func(r *compare.Row) string { return r.Commit }); len(commits) > 1 {
		lines = append(lines, "the comparisons were measured at several commits: "+strings.Join(commits, ", "))
	}
	for _, w := range bench.Workloads() {
		hashes := of(func(r *compare.Row) string {
			if r.Workload != w.Name {
				return ""
			}
			return r.PTXHash
		})
		if len(hashes) > 1 {
			lines = append(lines, fmt.Sprintf("the rows of %s were measured with several versions of its kernels, with the hashes %s", w.Name, strings.Join(hashes, ", ")))
		}
	}
	return lines
}

// readComparisons reads files that compare wrote with --json, or standard input for "-". For a folder it reads all
// files whose names end in .json. The result is averaged, so all comparisons must be of one device and sample, and no
// comparison may occur twice.
func readComparisons(c *cobra.Command, paths []string) (all []compare.Comparison, err error) {
	for _, path := range paths {
		files := []string{path}
		if info, err := os.Stat(path); err == nil && info.IsDir() {
			if files, err = filepath.Glob(filepath.Join(path, "*.json")); err != nil || len(files) == 0 {
				return nil, fmt.Errorf("--from %s: the folder holds no .json file", path)
			}
		}
		for _, file := range files {
			list, err := readComparisonsFile(c, file)
			if err != nil {
				return nil, fmt.Errorf("--from %s: %w", file, err)
			}
			if all = append(all, list...); all[0].Device != list[0].Device || all[0].Sample != list[0].Sample {
				return nil, fmt.Errorf("--from %s: it was measured on %s with --sample %d, and the files before it on %s with --sample %d: print them separately",
					file, list[0].Device, list[0].Sample, all[0].Device, all[0].Sample)
			}
		}
	}
	for i := range all {
		c := &all[i]
		again := func(o compare.Comparison) bool {
			return o.Workload == c.Workload && o.Size == c.Size && o.Memory == c.Memory && o.Threads == c.Threads
		}
		if slices.ContainsFunc(all[:i], again) {
			return nil, fmt.Errorf("--from: %s at %d, %s, %d threads, occurs twice: name each run once", c.Workload, c.Size, c.Memory, c.Threads)
		}
	}
	return all, nil
}

func readComparisonsFile(c *cobra.Command, path string) ([]compare.Comparison, error) {
	_, text, err := readInput(c, path)
	if failed := (*fs.PathError)(nil); errors.As(err, &failed) {
		return nil, failed.Err
	}
	if err != nil {
		return nil, err
	}
	var from comparisons
	err = json.Unmarshal([]byte(text), &from)
	if wrong := (*json.UnmarshalTypeError)(nil); errors.As(err, &wrong) {
		return nil, errors.New("it is not in the format that reprise compare --json writes")
	}
	if err != nil {
		return nil, fmt.Errorf("reprise compare --json did not write it: %w", err)
	}
	if len(from.Comparisons) == 0 {
		return nil, errors.New("it contains no comparison: pass a file that reprise compare --json wrote")
	}
	for i := range from.Comparisons {
		if lack := lacking(&from.Comparisons[i]); lack != "" {
			return nil, fmt.Errorf("a comparison in it has %s: reprise compare --json did not write it", lack)
		}
	}
	return from.Comparisons, nil
}

// lacking describes why a comparison cannot have been written by compare, or returns "". A row without
// a time, for example, would pass any --max-ratio.
func lacking(c *compare.Comparison) string {
	switch {
	case len(c.Rows) == 0:
		return "no rows"
	case c.Device == "":
		return "no device"
	}
	if lack := lackingOfWorkload(c); lack != "" && !ofSaved(*c) {
		return lack
	}
	for i := range c.Rows {
		switch r := &c.Rows[i]; {
		case r.Name == "":
			return "a row without a name"
		case r.OK && r.ReplayUS <= 0:
			return fmt.Sprintf("%g us per replay with %s", r.ReplayUS, r.Name)
		}
	}
	return ""
}

// lackingOfWorkload is lacking for what only a workload has: a name of the list, a size and a memory mode.
func lackingOfWorkload(c *compare.Comparison) string {
	if _, err := bench.LookupWorkload(c.Workload); err != nil {
		return "an " + err.Error()
	}
	if c.Size < 1 {
		return fmt.Sprintf("the size %d", c.Size)
	}
	if _, err := bench.ParseMemory(c.Memory); err != nil {
		return "an " + err.Error()
	}
	return ""
}

// ofPrograms returns the comparisons of the programs with these names, in the order of the names.
func ofPrograms(all []compare.Comparison, names []string) (of []compare.Comparison) {
	for _, name := range names {
		for _, c := range all {
			if c.Workload == name {
				of = append(of, c)
			}
		}
	}
	return of
}

// comparedNames returns the names of the programs of a command line as comparisons state them. It does not read the files
// of saved programs.
func comparedNames(c *cobra.Command, args []string) (names []string, err error) {
	for _, arg := range args {
		name := arg
		if !isFile(arg) {
			w, err := pickProgram(c, arg)
			if err != nil {
				return nil, err
			}
			if err := checkCompared([]*bench.Workload{w}); err != nil {
				return nil, err
			}
			name = w.Name
		}
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names, nil
}

// inOrder returns the names of the programs of comparisons: workloads in the order of a run, then saved programs in the
// order of the files.
func inOrder(all []compare.Comparison) (names []string) {
	has := map[string]bool{}
	for i := range all {
		has[all[i].Workload] = true
	}
	for _, w := range bench.Workloads() {
		if has[w.Name] {
			names = append(names, w.Name)
			delete(has, w.Name)
		}
	}
	for i := range all {
		if has[all[i].Workload] {
			names = append(names, all[i].Workload)
			delete(has, all[i].Workload)
		}
	}
	return names
}

// ofSaved reports whether a comparison is of a saved program.
func ofSaved(c compare.Comparison) bool { return c.Memory == bench.AsSaved.String() }
