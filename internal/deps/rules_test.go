package deps

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const sample = `# comment
ir: # the floor
sim/...: device sim/... # a device
sim/interp: ptx # executes kernels
sim/... tests: internal/kernels # real kernels
cmd/...: ... # wiring
`

func TestCheck(t *testing.T) {
	rs, err := parseRules(sample)
	require.NoError(t, err)
	for _, c := range []struct {
		pkg            string
		imports, tests []string
		want           []string
	}{
		{pkg: "ir"},
		{pkg: "ir", imports: []string{"ptx"}, want: []string{"ir imports ptx; it may import nothing of this module, for: the floor"}},
		{pkg: "sim", imports: []string{"device", "sim/interp", "sim/clock"}},
		{pkg: "sim/clock", imports: []string{"device", "simulacrum"},
			want: []string{"sim/clock imports simulacrum; it may import only device, sim/..., for: a device"}},
		// The longest match counts alone: the wider rule grants nothing more.
		{pkg: "sim/interp", imports: []string{"ptx", "device"},
			want: []string{"sim/interp imports device; it may import only ptx, for: executes kernels"}},
		// Tests may import what the code may, the package itself, and what their rule adds.
		{pkg: "sim", tests: []string{"sim", "device", "internal/kernels"}},
		{pkg: "ir", tests: []string{"ir", "internal/irtest"},
			want: []string{"a test of ir imports internal/irtest, which no rule of ir or of its tests allows"}},
		{pkg: "cmd/reprise", imports: []string{"anything", "at/all"}},
		{pkg: "solver", want: []string{"no rule covers package solver: add one, with its reason, to internal/deps/rules.txt"}},
	} {
		assert.Equal(t, c.want, rs.check(c.pkg, c.imports, c.tests), "%s imports %v, its tests %v", c.pkg, c.imports, c.tests)
	}
}

func TestFindPrefersTheLongestMatchInAnyOrder(t *testing.T) {
	for _, order := range [][]string{{"a/...", "a/b/...", "a"}, {"a", "a/b/...", "a/..."}, {"a/b/...", "a", "a/..."}} {
		var rs []rule
		for _, pattern := range order {
			rs = append(rs, rule{pkg: pattern})
		}
		for pkg, want := range map[string]string{"a": "a", "a/x": "a/...", "a/b": "a/b/...", "a/b/c": "a/b/..."} {
			assert.Equal(t, want, find(rs, pkg).pkg, "%s among %v", pkg, order)
		}
		assert.Nil(t, find(rs, "ab"))
	}
}

func TestParseRulesNamesTheLine(t *testing.T) {
	for text, want := range map[string]string{
		"ir":                     `line 1: "ir" has no colon: write PACKAGE: IMPORT... # REASON`,
		"# x\nir: ptx":           "line 2: the rule of ir gives no reason after a #",
		"ir: ptx #":              "line 1: the rule of ir gives no reason after a #",
		"ir: # a\n\nir: ptx # b": "line 3: a second rule of ir",
	} {
		_, err := parseRules(text)
		assert.EqualError(t, err, want)
	}
}
