package ptx

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// targets and versions are those that ptxas 11.8 has, in order, with the least version of each target.
var (
	targets = strings.Fields("30:3.0 35:3.1 50:4.0 52:4.1 53:4.2 60:5.0 61:5.0 62:5.0 70:6.0 72:6.1 75:6.3 80:7.0 86:7.1 87:7.4 89:7.8 90:7.8")
	isas    = strings.Fields("3.0 3.1 3.2 4.0 4.1 4.2 4.3 5.0 6.0 6.1 6.2 6.3 6.4 6.5 7.0 7.1 7.2 7.3 7.4 7.5 7.6 7.7 7.8")
)

// TestTargetsOfPtxas compares the least target and the least version of opcodes, special registers and
// directives with those that ptxas 11.8 accepts, which testdata/verdicts/targets lists: the least target for
// version 7.8, the least version for that target, then the words. The words cover every pair of neighbouring
// suffixes that ptxas accepts with an opcode of the instruction table.
func TestTargetsOfPtxas(t *testing.T) {
	list, err := os.ReadFile("testdata/verdicts/targets")
	require.NoError(t, err)
	for line := range strings.Lines(string(list)) {
		fields := strings.Fields(line)
		target, version := fields[0], fields[1]
		at := slices.IndexFunc(targets, func(s string) bool { return strings.HasPrefix(s, target+":") })
		_, first, _ := strings.Cut(targets[at], ":")
		for _, word := range fields[2:] {
			assert.Empty(t, wordFault(word, target, version), word)
			if at > 0 {
				before, _, _ := strings.Cut(targets[at-1], ":")
				assert.Contains(t, wordFault(word, before, "7.8"), "needs .", word)
			}
			if version != first {
				before := isas[slices.Index(isas, version)-1]
				assert.Contains(t, wordFault(word, target, before), "needs .version", word)
			}
		}
	}
}

// wordFault returns the fault of an opcode, a special register or a directive in a module
// for a target, or "".
func wordFault(word, target, version string) string {
	m := &Module{Target: "sm_" + target, Version: version}
	if word[0] == '%' || word[0] == '.' {
		return featureFault(word, opcode{name: word}, m)
	}
	parts := strings.Split(word, ".")
	return newForm(word, opcode{name: parts[0], suffix: typesLast(parts[0], parts[1:])}, m).fault
}

// TestFeaturesNeedTargetAndVersion leaves each feature one target and one version short. This covers those of
// ISAs later than that of ptxas 11.8.
func TestFeaturesNeedTargetAndVersion(t *testing.T) {
	for name, list := range features {
		for _, f := range list {
			assert.Empty(t, f.fault(name, &Module{Target: "sm_120", Version: "9.0"}))
			target, version := f.bounds[0].target, f.bounds[len(f.bounds)-1].version
			if target > 0 {
				assert.Contains(t, f.fault(name, &Module{Target: "sm_" + strconv.Itoa(target-1), Version: "9.0"}), "needs .target ")
			}
			if version > 0 {
				before := fmt.Sprintf("%d.%d", (version-1)/100, (version-1)%100)
				assert.Contains(t, f.fault(name, &Module{Target: "sm_120", Version: before}), "needs .version ")
			}
		}
	}
}

// An instruction for one of two targets, from a version of its own for each, is refused with the bound that its
// target has.
func TestFeatureOfSeveralBounds(t *testing.T) {
	const word = "cvt.rn.satfinite.e4m3x2.f32"
	assert.Equal(t, word+" needs .target sm_89 or later, and this module is for sm_87", wordFault(word, "87", "8.1"))
	assert.Equal(t, word+" needs .version 8.1 or later, and this module has 8.0", wordFault(word, "89", "8.0"))
	assert.Empty(t, wordFault(word, "89", "8.1"))
	assert.Empty(t, wordFault(word, "90", "7.8"))
	assert.Equal(t, word+" needs .version 7.8 or later, and this module has 7.7", wordFault(word, "90", "7.7"))
}
