//go:build cuda && cgo

package main

import (
	"debug/elf"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// exportsOf returns the names of the symbols that a library exports.
func exportsOf(t *testing.T, path string) map[string]bool {
	t.Helper()
	f, err := elf.Open(path)
	require.NoError(t, err)
	defer f.Close()
	symbols, err := f.DynamicSymbols()
	require.NoError(t, err)
	names := map[string]bool{}
	for _, s := range symbols {
		if s.Section != elf.SHN_UNDEF {
			names[s.Name] = true
		}
	}
	return names
}

// TestExports compares the library's exports with those of NVIDIA's driver of CUDA 12.4.
func TestExports(t *testing.T) {
	ours := exportsOf(t, filepath.Join(buildLibrary(t), "libcudasim.so"))
	text, err := os.ReadFile("../../internal/lazycuda/testdata/driver-12.4.txt")
	require.NoError(t, err)
	names := strings.Fields(string(text))
	require.Greater(t, len(names), 650)
	for _, name := range names {
		require.True(t, ours[name], "%s is exported by NVIDIA's driver and not by libcudasim.so", name)
	}
}

// TestAllNamesBindAtOnce loads the library in a program that binds all names at once, as PyCUDA does.
func TestAllNamesBindAtOnce(t *testing.T) {
	lib, dir := buildLibrary(t), t.TempDir()
	text, err := os.ReadFile("../../internal/lazycuda/testdata/driver-12.4.txt")
	require.NoError(t, err)
	var source strings.Builder
	names := strings.Fields(string(text))
	for _, name := range names {
		source.WriteString("extern int " + name + "();\n")
	}
	source.WriteString("void *all[] = {")
	for _, name := range names {
		source.WriteString("(void *)" + name + ", ")
	}
	source.WriteString("};\nint main(void) { return all[0] == 0; }\n")
	file := filepath.Join(dir, "all.c")
	require.NoError(t, os.WriteFile(file, []byte(source.String()), 0o644))
	run(t, lib, compileProgram(t, lib, file, "-Wl,-z,now", "-Wno-strict-prototypes"), nil)
}
