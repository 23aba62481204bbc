package ptx

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/require"
)

// corpus returns every PTX file under testdata. The files are compiled from the .cu files
// of the same name by "nvcc -ptx -arch=compute_75" of CUDA 11.8, debug.cu with -G and with
// -lineinfo. Comments in llvm.ll describe how that file was compiled.
func corpus(t testing.TB) []string {
	files, err := filepath.Glob("testdata/*.ptx")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	return files
}

func parseFile(t testing.TB, file string) *Module {
	src, err := os.ReadFile(file)
	require.NoError(t, err)
	m, err := Parse(file, string(src))
	require.NoError(t, err)
	return m
}

func TestParseCorpus(t *testing.T) {
	for _, file := range corpus(t) {
		src, err := os.ReadFile(file)
		require.NoError(t, err)
		_, err = Parse(file, string(src))
		require.NoError(t, err)
	}
}

func BenchmarkParse(b *testing.B) {
	total := 0
	var sources []string
	for _, file := range corpus(b) {
		src, err := os.ReadFile(file)
		require.NoError(b, err)
		sources = append(sources, string(src))
		total += len(src)
	}
	b.SetBytes(int64(total))
	b.ReportAllocs()
	for b.Loop() {
		for _, src := range sources {
			if _, err := Parse("", src); err != nil {
				b.Fatal(err)
			}
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, file := range corpus(f) {
		src, err := os.ReadFile(file)
		require.NoError(f, err)
		f.Add(string(src))
	}
	f.Add(unusual)
	for _, src := range syntaxSeeds(f) {
		f.Add(src)
	}
	f.Fuzz(func(t *testing.T, src string) {
		if len(src) > 1<<16 {
			return
		}
		m, err := Parse("fuzz", src)
		require.True(t, (m == nil) == (err != nil))
		if err != nil {
			return
		}
		again, err := Parse("printed", printed(t, m))
		require.NoError(t, err)
		require.Len(t, again.Funcs, len(m.Funcs))
	})
}

// syntaxSeeds are the inputs of TestSyntax.
func syntaxSeeds(t testing.TB) []string {
	text, err := os.ReadFile("testdata/syntax")
	require.NoError(t, err)
	var seeds []string
	for _, block := range strings.Split(string(text), "\n\n") {
		head, _, _ := strings.Cut(block, "\n----")
		for _, cmd := range []string{"body", "file"} {
			if _, input, ok := strings.Cut("\n"+head, "\n"+cmd+"\n"); ok {
				seeds = append(seeds, syntaxInput(&datadriven.TestData{Cmd: cmd, Input: input}))
			}
		}
	}
	return seeds
}
