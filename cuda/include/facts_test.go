package include_test

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// facts holds what a compiler reports about the declarations of a header, by kind and name:
//
//	constant CU_STREAM_DEFAULT   the value, "0"
//	type CUevent                 size, alignment and mangled type
//	field CUDA_MEMCPY2D.srcY     offset, size and type
//	function cuMemAlloc          the symbol that it expands to, and its type
//	per-thread cuLaunchKernel    the symbol with the per-thread default stream
type facts map[string]string

func (f facts) keys() []string { return slices.Sorted(maps.Keys(f)) }

func (f facts) String() string {
	var b strings.Builder
	for _, k := range f.keys() {
		b.WriteString(k + " " + f[k] + "\n")
	}
	return b.String()
}

// differenceFrom returns the facts of f that differ from base, with "-" for those that f lacks.
func (f facts) differenceFrom(base facts) facts {
	d := facts{}
	for k, v := range f {
		if base[k] != v {
			d[k] = v
		}
	}
	for k := range base {
		if _, ok := f[k]; !ok {
			d[k] = "-"
		}
	}
	return d
}

// changedBy applies the result of differenceFrom to f.
func (f facts) changedBy(d facts) facts {
	all := maps.Clone(f)
	maps.Copy(all, d)
	maps.DeleteFunc(all, func(_, v string) bool { return v == "-" })
	return all
}

func parseFacts(text string) facts {
	f := facts{}
	for line := range strings.Lines(text) {
		words := strings.SplitN(strings.TrimSuffix(line, "\n"), " ", 3)
		f[words[0]+" "+words[1]] = words[2]
	}
	return f
}

func readFacts(t *testing.T, path string) facts {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	return parseFacts(string(text))
}

func needCompiler(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("g++"); err != nil {
		t.Skip("needs g++, which tells the types of things")
	}
}

var versionLine = regexp.MustCompile(`(?m)^#define CUDA_VERSION (\d+)`)

func versionOf(t *testing.T, dir string) int {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "cuda.h"))
	require.NoError(t, err)
	m := versionLine.FindStringSubmatch(string(text))
	require.NotNil(t, m, "%s/cuda.h has no CUDA_VERSION", dir)
	version, err := strconv.Atoi(m[1])
	require.NoError(t, err)
	return version
}

// probe compiles programs with the header in dir, and returns its facts about all names that cuda.h declares and that
// the header has, too.
func probe(t *testing.T, dir string, flags ...string) facts {
	t.Helper()
	ours, err := os.ReadFile("cuda.h")
	require.NoError(t, err)
	n := parseNames(string(ours))
	flags = append(flags, "-w", "-I", dir)
	symbols := expand(t, n.functions, flags)
	perThread := expand(t, n.functions, append(flags, "-DCUDA_API_PER_THREAD_DEFAULT_STREAM"))

	var p strings.Builder
	p.WriteString(prologue)
	known := knownWords(t, flags)
	for _, c := range n.constants {
		p.WriteString(ifKnown(known, "	CONSTANT("+c+")\n", c))
	}
	for _, y := range n.types {
		p.WriteString(ifKnown(known, "	TYPE("+y+")\n", y))
	}
	for _, f := range n.fields {
		record, path, _ := strings.Cut(f, ".")
		p.WriteString(ifKnown(known, "	FIELD("+record+", "+path+")\n", strings.Split(f, ".")...))
	}
	for _, f := range n.functions {
		p.WriteString(ifKnown(known, "	FUNCTION("+f+", \""+symbols[f]+"\")\n", symbols[f]))
	}
	p.WriteString("}\n")
	result := parseFacts(run(t, p.String(), flags))

	known = knownWords(t, append(flags, "-DCUDA_API_PER_THREAD_DEFAULT_STREAM"))
	for _, f := range n.functions {
		if known[perThread[f]] && perThread[f] != symbols[f] {
			result["per-thread "+f] = perThread[f]
		}
	}
	return result
}

const prologue = `#include <cuda.h>
#include <cstddef>
#include <cstdio>
#include <typeinfo>
#define CONSTANT(c) std::printf("constant " #c " %lld\n", (long long)(c));
#define TYPE(t) std::printf("type " #t " %zu %zu %s\n", sizeof(t), alignof(t), typeid(t).name());
#define FIELD(t, f) std::printf("field " #t "." #f " %zu %zu %s\n", offsetof(t, f), sizeof(((t *)0)->f), typeid(decltype(((t *)0)->f)).name());
#define FUNCTION(f, symbol) std::printf("function " #f " " symbol " %s\n", typeid(decltype(&f)).name());
int main() {
`

func ifKnown(known map[string]bool, line string, names ...string) string {
	for _, n := range names {
		if !known[n] {
			return ""
		}
	}
	return line
}

var word = regexp.MustCompile(`\w+`)

// knownWords returns all identifiers in the header's code and macros.
func knownWords(t *testing.T, flags []string) map[string]bool {
	t.Helper()
	known := map[string]bool{}
	for _, mode := range []string{"-P", "-dM"} {
		for _, w := range word.FindAllString(preprocess(t, "#include <cuda.h>\n", append(flags, mode)), -1) {
			known[w] = true
		}
	}
	return known
}

var expansion = regexp.MustCompile(`(?m)^EXPAND "(\w+)" (\w+)$`)

// expand returns the symbol that each function's name expands to.
func expand(t *testing.T, names, flags []string) map[string]string {
	t.Helper()
	text := "#include <cuda.h>\n"
	for _, n := range names {
		text += "EXPAND \"" + n + "\" " + n + "\n"
	}
	symbols := map[string]string{}
	for _, m := range expansion.FindAllStringSubmatch(preprocess(t, text, append(flags, "-P")), -1) {
		symbols[m[1]] = m[2]
	}
	return symbols
}

func preprocess(t *testing.T, source string, flags []string) string {
	t.Helper()
	c := exec.Command("g++", append([]string{"-x", "c++", "-E"}, append(flags, "-")...)...)
	c.Stdin = strings.NewReader(source)
	out, err := c.Output()
	require.NoError(t, err, "g++ -E")
	return string(out)
}

// run compiles a program and returns what it prints.
func run(t *testing.T, source string, flags []string) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "probe")
	c := exec.Command("g++", append(flags, "-x", "c++", "-", "-o", program)...)
	c.Stdin = strings.NewReader(source)
	out, err := c.CombinedOutput()
	require.NoError(t, err, "%s", out)
	text, err := exec.Command(program).Output()
	require.NoError(t, err)
	return string(text)
}
