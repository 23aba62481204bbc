package main

import (
	"embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/reprise-gpu/reprise/cuda/include"
	"github.com/reprise-gpu/reprise/internal/lazycuda"
	"github.com/reprise-gpu/reprise/internal/release"
)

func newCgoEnv() *cobra.Command {
	return &cobra.Command{
		Use:   "cgo-env [FOLDER]",
		Short: "Build libcuda.a for programs of other modules, and print the variables of cgo",
		Long: `Cgo-env writes cuda.h and libcuda.a into a folder, by default reprise in the user's cache, and
prints the variables with which "go build -tags cuda" finds them:

  eval "$(reprise cgo-env)"
  go build -tags cuda .

It needs a C compiler, $CC or cc, and ar. The library forwards calls to the CUDA driver,
which it finds at the first call. The program therefore also starts without a driver.`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			folder, err := cgoFolder(args)
			if err != nil {
				return err
			}
			if err := buildDriverLibrary(folder); err != nil {
				return err
			}
			_, err = fmt.Fprintf(c.OutOrStdout(), "export CGO_ENABLED=1 CGO_CFLAGS=%s CGO_LDFLAGS=%s\n",
				quoted("-g -O2 -I"+folder), quoted("-g -O2 -L"+folder))
			return err
		},
	}
}

// cgoFolder returns the folder given on the command line as an absolute path, or else one in the user's cache.
func cgoFolder(args []string) (string, error) {
	if len(args) > 0 {
		return filepath.Abs(args[0])
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("this user has no cache folder: name a folder on the command line: %w", err)
	}
	return filepath.Join(cache, "reprise", release.Version), nil
}

// quoted quotes a word for a shell. Cgo splits its variables at spaces, so folders with a space in their path are
// refused elsewhere.
func quoted(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// buildDriverLibrary writes the headers of the driver and libcuda.a into a folder.
func buildDriverLibrary(folder string) error {
	if strings.ContainsAny(folder, " \t") {
		return usagef("%s has a space in its path, which cgo cannot take: name another folder", folder)
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	sources, err := os.MkdirTemp(folder, "sources")
	if err != nil {
		return err
	}
	defer os.RemoveAll(sources)
	for into, files := range map[string]embed.FS{folder: include.Headers, sources: lazycuda.Sources} {
		if err := writeFiles(into, files); err != nil {
			return err
		}
	}
	cc := "cc"
	if named := strings.Fields(os.Getenv("CC")); len(named) > 0 {
		cc = named[0]
	}
	var objects []string
	for _, name := range []string{"trampoline.S", "resolve.c", "provider.c", "absent.c"} {
		object := filepath.Join(sources, name+".o")
		objects = append(objects, object)
		if err := runTool(cc, "-std=gnu11", "-O2", "-g", "-fPIC", "-I"+folder, "-c", filepath.Join(sources, name), "-o", object); err != nil {
			return err
		}
	}
	library := filepath.Join(sources, "libcuda.a")
	if err := runTool("ar", append([]string{"rcs", library}, objects...)...); err != nil {
		return err
	}
	return os.Rename(library, filepath.Join(folder, "libcuda.a"))
}

func writeFiles(folder string, files embed.FS) error {
	entries, err := files.ReadDir(".")
	if err != nil {
		return err
	}
	for _, e := range entries {
		text, err := files.ReadFile(e.Name())
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(folder, e.Name()), text, 0o644); err != nil {
			return err
		}
	}
	return nil
}

func runTool(name string, args ...string) error {
	out, err := exec.Command(name, args...).CombinedOutput()
	if errors.Is(err, exec.ErrNotFound) {
		return fmt.Errorf("%w: cgo needs a C compiler and ar: install them, or name the compiler in CC", err)
	}
	if err != nil {
		return fmt.Errorf("%s, which builds the library for cgo: %w\n%s", name, err, out)
	}
	return nil
}
