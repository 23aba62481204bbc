package deps

import (
	"encoding/json"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const module = "github.com/reprise-gpu/reprise"

// listed is what `go list -json` says of a package.
type listed struct {
	ImportPath, Name, Dir, Doc         string
	Imports, TestImports, XTestImports []string
	TestGoFiles, XTestGoFiles          []string
}

// TestImportsKeepTheRules checks every package, with and without the files that have the tag cuda. Each import that a
// rule allows must be used, so that rules do not stay wider than the code.
func TestImportsKeepTheRules(t *testing.T) {
	text, err := os.ReadFile("rules.txt")
	require.NoError(t, err)
	rs, err := parseRules(string(text))
	require.NoError(t, err, "rules.txt")
	all := append(packages(t), packages(t, "-tags", "cuda")...)
	uses := map[string][]string{} // by package: all imports of its code and tests
	for _, p := range all {
		tests := append(ours(p.TestImports), ours(p.XTestImports)...)
		path := relative(p.ImportPath)
		for _, violation := range rs.check(path, ours(p.Imports), tests) {
			t.Error(violation)
		}
		uses[path] = append(append(uses[path], ours(p.Imports)...), tests...)
	}
	require.Contains(t, uses, "cuda/simabi", "packages with the tag cuda are listed")
	for _, unused := range rs.unused(uses) {
		t.Error(unused)
	}
}

func TestPackagesHaveADocComment(t *testing.T) {
	for _, p := range packages(t) {
		assert.NotEmpty(t, p.Doc, "package %s has no doc comment: say in one paragraph what it holds", p.ImportPath)
	}
}

// TestPublicPackagesHaveAnExample requires an Example function, which go doc shows and go test compiles, in every
// package that other modules can import. Packages below cuda are exempt: most of their code has the tag cuda.
func TestPublicPackagesHaveAnExample(t *testing.T) {
	public := 0
	for _, p := range packages(t) {
		path := relative(p.ImportPath)
		internal := strings.Contains("/"+path+"/", "/internal/")
		if p.Name == "main" || internal || path == "scripts" || path == "cuda" || strings.HasPrefix(path, "cuda/") {
			continue
		}
		public++
		examples := 0
		for _, name := range append(p.TestGoFiles, p.XTestGoFiles...) {
			text, err := os.ReadFile(filepath.Join(p.Dir, name))
			require.NoError(t, err)
			examples += strings.Count(string(text), "\nfunc Example")
		}
		assert.NotZero(t, examples, "package %s has no example: show its use in a function Example of example_test.go", path)
	}
	require.Greater(t, public, 10, "hardly any package was found")
}

// Package cuda needs a driver; everything below the wiring builds without one.
func TestOnlyTheWiringMayImportCUDA(t *testing.T) {
	text, err := os.ReadFile("rules.txt")
	require.NoError(t, err)
	rs, err := parseRules(string(text))
	require.NoError(t, err)
	wiring := []string{"cmd/...", "internal/devices"}
	for _, r := range append(rs.code, rs.tests...) {
		assert.Equal(t, slices.Contains(wiring, r.pkg), r.allows("cuda"), "the rule of %s", r.pkg)
	}
}

// packages runs the go command. It walks the tree first: the test cache notes the
// directories that a test reads but not what its children read, and a cached pass
// would outlive a new import.
func packages(t *testing.T, flags ...string) []listed {
	t.Helper()
	root := filepath.Join("..", "..")
	require.NoError(t, filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && d.Name() == ".git" {
			return fs.SkipDir
		}
		return err
	}))
	args := append([]string{"list", "-json=ImportPath,Name,Dir,Doc,Imports,TestImports,XTestImports,TestGoFiles,XTestGoFiles"}, flags...)
	cmd := exec.Command("go", append(args, "./...")...)
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "CGO_ENABLED=1") // lists files with cgo, also without a C compiler
	out, err := cmd.Output()
	if exit, ok := err.(*exec.ExitError); ok {
		t.Fatalf("go list: %s", exit.Stderr)
	}
	require.NoError(t, err)

	var all []listed
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p listed
		err := dec.Decode(&p)
		if err == io.EOF {
			break
		}
		require.NoError(t, err)
		all = append(all, p)
	}
	require.NotEmpty(t, all)
	return all
}

// ours keeps the imports from this module, relative to it.
func ours(imports []string) []string {
	var out []string
	for _, imp := range imports {
		if imp == module || strings.HasPrefix(imp, module+"/") {
			out = append(out, relative(imp))
		}
	}
	return out
}

// relative is a path in the module, "." for its root.
func relative(path string) string {
	if path == module {
		return "."
	}
	return strings.TrimPrefix(path, module+"/")
}
