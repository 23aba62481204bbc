package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// maxNames bounds the exported names of this module. Lower it when names go; raise it only with a reason. The last raise: saved
// programs (Load, Save and their options, buffers and host calls by name, contents) and package verify.
// Labels of operations (Op, Named), and ir.ParseScalar for files of numbers.
// Declared bytes of blocks: tracer.PerBlock, ir.Map, device.Declared and the finding of the simulator.
const maxNames = 671

func TestExportedNamesAreFew(t *testing.T) {
	packages, err := readPackages("../..")
	require.NoError(t, err)
	for _, p := range packages {
		if p.exported > 0 {
			t.Logf("%4d %s", p.exported, p.path)
		}
	}
	t.Logf("%4d exported names in importable packages, at most %d", exportedIn(packages), maxNames)
	assert.NoError(t, checkNames(packages, maxNames))
}

// TestNamesAreCounted counts a package of two constants, a variable, a type, a function and a method, and names that do
// not count.
func TestNamesAreCounted(t *testing.T) {
	root := t.TempDir()
	for name, text := range map[string]string{
		"a/a.go": `package a

const A, B, c = 1, 2, 3

var D, e = 1, 2

type F struct{ Field int }

type G = F

type h struct{}

func I() {}
func j() {}

func (*F) K()     {}
func (F) l()      {}
func (h) M()      {}
`,
		"a/a_test.go":       "package a\n\nfunc N() {}\n",
		"a/internal/b/b.go": "package b\n\nfunc O() {}\n",
		"cmd/p/main.go":     "package main\n\nfunc P() {}\n",
		"a/testdata/q/q.go": "package q\n\nfunc Q() {}\n",
	} {
		require.NoError(t, os.MkdirAll(filepath.Join(root, filepath.Dir(name)), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(root, name), []byte(text), 0o644))
	}
	packages, err := readPackages(root)
	require.NoError(t, err)
	assert.Equal(t, 7, exportedIn(packages)) // A B D F G I K
	assert.NoError(t, checkNames(packages, 0))
	assert.NoError(t, checkNames(packages, 7))
	assert.ErrorContains(t, checkNames(packages, 6), "export 7 names, and the limit is 6")
}
