package lazycuda_test

import (
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// symbol is a line of symbols.def.
type symbol struct {
	base  string
	since int // 12030
}

var symbolLine = regexp.MustCompile(`^SYMBOL\((\w+), (\w+), (\d+)\)$`)

func readSymbols(t *testing.T) map[string]symbol {
	t.Helper()
	return readList(t, "symbols.def")
}

func readList(t *testing.T, file string) map[string]symbol {
	t.Helper()
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	symbols := map[string]symbol{}
	var order []string
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSuffix(line, "\n")
		if strings.HasPrefix(line, "//") {
			continue
		}
		m := symbolLine.FindStringSubmatch(line)
		require.NotNil(t, m, "%s: %s", file, line)
		since, err := strconv.Atoi(m[3])
		require.NoError(t, err)
		symbols[m[1]] = symbol{base: m[2], since: since}
		order = append(order, m[1])
	}
	require.True(t, slices.IsSorted(order), "%s is sorted, so that a name is easy to find", file)
	require.Len(t, order, len(symbols), "%s names nothing twice", file)
	return symbols
}

// declared returns the functions of cuda.h, with all of their versions.
func declared(t *testing.T) map[string]bool {
	t.Helper()
	found := map[string]bool{}
	function := regexp.MustCompile(`(?m)^CUresult\s+(cu\w+)\(`)
	for _, release := range []string{"12040", "11080"} {
		for _, streams := range []string{"-DLEGACY", "-DCUDA_API_PER_THREAD_DEFAULT_STREAM"} {
			out, err := exec.Command("gcc", "-E", "-P", "-DCUDA_VERSION="+release, streams, "../../cuda/include/cuda.h").Output()
			require.NoError(t, err)
			for _, m := range function.FindAllStringSubmatch(string(out), -1) {
				found[m[1]] = true
			}
		}
	}
	return found
}

func TestSymbolsAreTheHeaders(t *testing.T) {
	if _, err := exec.LookPath("gcc"); err != nil {
		t.Skip("needs gcc to read cuda.h as it reads with each macro")
	}
	symbols, declared := readSymbols(t), declared(t)
	require.Greater(t, len(declared), 400)
	for name := range declared {
		require.Contains(t, symbols, name, "declared by cuda.h and not in symbols.def")
	}
	for name := range symbols {
		require.True(t, declared[name], "%s is in symbols.def and not in cuda.h", name)
	}
}

// TestSymbolsAreTheDrivers compares both lists together with the exports of NVIDIA's driver of CUDA 12.4 (550.163.01).
func TestSymbolsAreTheDrivers(t *testing.T) {
	text, err := os.ReadFile("testdata/driver-12.4.txt")
	require.NoError(t, err)
	theirs := slices.DeleteFunc(strings.Fields(string(text)), func(s string) bool { return strings.HasPrefix(s, "cudbg") })
	declared, others := readSymbols(t), readList(t, "undeclared.def")
	var ours []string
	for name := range declared {
		require.NotContains(t, others, name, "in symbols.def and in undeclared.def")
		ours = append(ours, name)
	}
	for name := range others {
		ours = append(ours, name)
	}
	require.ElementsMatch(t, theirs, ours)
}

// TestSymbolsOfGorgonia checks the symbols that gorgonia.org/cu v0.9.6 requires to link, compiled with the header of
// CUDA 11.8.
func TestSymbolsOfGorgonia(t *testing.T) {
	text, err := os.ReadFile("testdata/gorgonia.txt")
	require.NoError(t, err)
	names, symbols := strings.Fields(string(text)), readSymbols(t)
	require.Len(t, names, 159)
	for _, name := range names {
		require.Contains(t, symbols, name)
	}
}

// TestSymbolsSince compares the releases in symbols.def with those in comments of cuda.h, for 11.0 and later.
func TestSymbolsSince(t *testing.T) {
	text, err := os.ReadFile("../../cuda/include/cuda.h")
	require.NoError(t, err)
	renamed := map[string]string{}
	for _, m := range regexp.MustCompile(`(?m)^#define (cu\w+) (?:__CUDA_API_PT[DS][SZ]\()?(cu\w+)\)?$`).FindAllStringSubmatch(string(text), -1) {
		if _, ok := renamed[m[1]]; !ok {
			renamed[m[1]] = m[2]
		}
	}
	checked, symbols := 0, readSymbols(t)
	for _, m := range regexp.MustCompile(`(?m)^CUresult CUDAAPI (\w+)\([^;]*;(?: /\* ([\d.]+) \*/)?$`).FindAllStringSubmatch(string(text), -1) {
		name := m[1]
		if _, ok := symbols[name]; !ok {
			name = renamed[name]
		}
		since, comment := symbols[name].since, ""
		if since >= 11000 {
			comment = fmt.Sprintf("%d.%d", since/1000, since%1000/10)
			checked++
		}
		require.Equal(t, comment, m[2], "the release after %s in cuda.h", name)
	}
	require.Greater(t, checked, 150)
}
