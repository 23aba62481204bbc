package main

import (
	"fmt"
	"io"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/reprise-gpu/reprise/internal/bench"
	"github.com/reprise-gpu/reprise/internal/release"
)

func newVersion() *cobra.Command {
	var path string
	c := &cobra.Command{
		Use:   "version",
		Short: "Print the version, the commit and the Go release",
		Args:  noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return writeResults(c.OutOrStdout(), path, thisVersion(), func(w io.Writer) error {
				_, err := io.WriteString(w, thisVersion().String())
				return err
			})
		},
	}
	jsonFlag(c, &path, "the version")
	return c
}

// versionRecord describes this build.
type versionRecord struct {
	Version string `json:"version"`
	Commit  string `json:"commit"`
	Go      string `json:"go"`
	System  string `json:"system"` // operating system and architecture: "linux/amd64"
}

func thisVersion() versionRecord {
	return versionRecord{release.Version, bench.Commit(), runtime.Version(), runtime.GOOS + "/" + runtime.GOARCH}
}

// String returns what version and --version print.
func (v versionRecord) String() string {
	return fmt.Sprintf("reprise %s, commit %s, %s %s\n", v.Version, v.Commit, v.Go, v.System)
}
