package rewrite

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/internal/ptx"
)

// corpusFiles are the PTX files of this repository whose kernels the tests rewrite.
var corpusFiles = []string{
	"../../kernels/*.ptx",
	"../../../solver/internal/kernels/*.ptx",
	"../../bench/validation/data/ptx/*.ptx",
	"../../bench/scale/programs/*.ptx",
	"../../distribute/testdata/*.ptx",
	"../../tenancy/*.ptx",
	"../../timings/*.ptx",
	"../../until/*.ptx",
	"../../../baseline/solver/*.ptx",
	"../../../device/devicetest/*.ptx",
	"../../../examples/*/*.ptx",
	"../../../graphexec/testdata/*.ptx",
	"../../interp/testdata/*.ptx",
	"../../sim/testdata/kernels/*.ptx",
	"../../sim/testdata/instr/*.ptx",
	"../testdata/*.ptx",
}

// corpusKernel is a kernel of the corpus with the launch that its file asks for.
type corpusKernel struct {
	file   string // without the leading dots
	module *ptx.Module
	kernel *ptx.Func
	block  [3]uint32 // zero if the file does not say
	shared uint32
}

func (k corpusKernel) String() string { return k.file + " " + k.kernel.Name }

// corpus returns the kernels of all files, or with -short a part of them. Files that do not
// parse are those of tests that expect an error.
func corpus(t testing.TB) (list []corpusKernel) {
	all := corpusOnce(t)
	if !testing.Short() {
		return all
	}
	for i := 0; i < len(all); i += 9 {
		list = append(list, all[i])
	}
	return list
}

// corpusOnce parses the files at the first call.
func corpusOnce(t testing.TB) []corpusKernel {
	if corpusKernels == nil {
		corpusKernels = readCorpus(t)
	}
	return corpusKernels
}

// corpusKernels is the result of corpusOnce.
var corpusKernels []corpusKernel

func readCorpus(t testing.TB) (list []corpusKernel) {
	for _, pattern := range corpusFiles {
		files, err := filepath.Glob(pattern)
		require.NoError(t, err)
		require.NotEmpty(t, files, pattern)
		for _, file := range files {
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			list = append(list, kernelsOf(file, string(text))...)
		}
	}
	return list
}

// alone returns a module with one kernel of m, since the interpreter compiles all kernels.
func alone(m *ptx.Module, kernel string) *ptx.Module {
	u, err := extract(m, kernel)
	if err != nil {
		panic(err)
	}
	single, err := ptx.Parse(m.File, u.module().String())
	if err != nil {
		panic(err)
	}
	single.Func(kernel).Cluster = m.Func(kernel).Cluster // which Print drops
	return single
}

// directive matches a line of an instruction file about its launch.
var directive = regexp.MustCompile(`(?m)^//! (block|shared) (.*)$`)

// kernelsOf returns the kernels of one file.
func kernelsOf(file, text string) (list []corpusKernel) {
	m, err := ptx.Parse(file, text)
	if err != nil {
		return nil
	}
	k := corpusKernel{file: strings.TrimLeft(file, "./"), module: m}
	if strings.Contains(file, "/instr/") {
		k.block = [3]uint32{32, 1, 1}
	}
	for _, d := range directive.FindAllStringSubmatch(text, -1) {
		for i, s := range strings.Fields(d[2]) {
			n, _ := strconv.Atoi(s)
			if d[1] == "shared" {
				k.shared = uint32(n)
			} else {
				k.block[i] = uint32(n)
			}
		}
	}
	for _, f := range m.Funcs {
		if f.Entry && !f.Extern && f.Alias == "" {
			k.module = alone(m, f.Name)
			k.kernel = k.module.Func(f.Name)
			list = append(list, k)
		}
	}
	return list
}
