package ptx

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// featureRows lists the requirements of opcodes and special registers beyond
// the first supported GPU and version: an opcode with the suffixes that make up
// the feature, the least target, and the least PTX version as 100*major+minor;
// 0 means no bound. The figures are the least target and version that ptxas
// 11.8 accepts. Those of version 8.0 and later are from the PTX ISA. wmma is
// listed from 6.0 on: ptxas no longer accepts its earlier form without
// .aligned.
const featureRows = `
%aggr_smem_size 0 801
%cluster_ctaid 90 708
%cluster_ctarank 90 708
%cluster_nctaid 90 708
%cluster_nctarank 90 708
%clusterid 90 708
%current_graph_exec 0 800
%is_explicit_cluster 90 708
%nclusterid 90 708
abs+bf16 80 700
abs+bf16x2 80 700
abs+f16 53 605
abs+f16x2 53 605
activemask 0 602
add+bf16 90 708
add+bf16x2 90 708
alloca 52 703
atom+acq_rel 70 600
atom+acquire 70 600
atom+add+bf16 90 708
atom+add+bf16x2 90 708
atom+add+f16 70 603
atom+add+f16x2 60 602
atom+add+f64 60 500
atom+cas+b16 70 603
atom+cta 60 500
atom+gpu 60 500
atom+relaxed 70 600
atom+release 70 600
atom+sys 60 500
barrier+cluster 90 708
barrier+cta 0 708
bmsk 70 706
cp+async 80 700
cvt+bf16 80 700
cvt+bf16x2 80 700
cvt+f16x2+f32 80 700
cvt+f64+bf16 90 708
cvt+pack 72 605
cvt+tf32 80 700
cvt+u32+bf16 90 708
dp2a 61 500
dp4a 61 500
elect 90 800
ex2+f16 75 700
ex2+f16x2 75 700
fence 70 600
fma+bf16 80 700
fma+bf16x2 80 700
fma+relu 80 700
getctarank 90 708
griddepcontrol 90 708
ld+acquire 70 600
ld+relaxed 70 600
ld+weak 70 600
ldmatrix 75 605
lop3+and 70 802
lop3+or 70 802
lop3+xor 70 802
mapa 90 708
match 70 600
max+NaN 80 700
max+f16 80 700
max+f16x2 80 700
max+xorsign 86 702
mbarrier 80 700
min+NaN 80 700
min+f16 80 700
min+f16x2 80 700
min+xorsign 86 702
mma 70 604
movmatrix 75 708
mul+bf16 90 708
mul+bf16x2 90 708
nanosleep 70 602
red+add+f16 70 603
red+add+f16x2 60 602
red+add+f64 60 500
red+relaxed 70 600
red+release 70 600
redux 80 700
set+bf16 90 708
setp+bf16 90 708
st+relaxed 70 600
st+release 70 600
stackrestore 52 703
stacksave 52 703
stmatrix 90 708
sub+bf16 90 708
sub+bf16x2 90 708
szext 70 706
tanh 75 700
tanh+f16 75 700
tanh+f16x2 75 700
wmma 70 600
`

// feature is the requirement of one form of an opcode.
type feature struct {
	with            []string
	target, version int
}

var features = func() map[string][]feature {
	table := map[string][]feature{}
	for line := range strings.Lines(featureRows) {
		fields := strings.Fields(line)
		if len(fields) == 0 {
			continue
		}
		words := strings.Split(fields[0], "+")
		target, bad := strconv.Atoi(fields[1])
		version, worse := strconv.Atoi(fields[2])
		if bad != nil || worse != nil {
			panic("BUG: features of " + fields[0] + " are no numbers")
		}
		table[words[0]] = append(table[words[0]], feature{words[1:], target, version})
	}
	return table
}()

// featureFault returns what the module lacks for an instruction, or "".
func featureFault(word string, code opcode, m *Module) string {
	target, version := m.TargetNumber(), m.version()
	for _, f := range features[code.name] {
		if slices.ContainsFunc(f.with, func(s string) bool { return !slices.Contains(code.suffix, s) }) {
			continue
		}
		switch {
		case target > 0 && target < f.target:
			return fmt.Sprintf("%s needs .target sm_%d or later, and this module is for %s", word, f.target, m.Target)
		case version > 0 && version < f.version:
			return fmt.Sprintf("%s needs .version %d.%d or later, and this module has %s", word, f.version/100, f.version%100, m.Version)
		}
	}
	return ""
}

// withdrawnFault reports forms that were removed: shfl and vote without .sync,
// for sm_70 and later from version 6.4 on.
func withdrawnFault(word string, code opcode, m *Module) string {
	if code.name != "shfl" && code.name != "vote" || slices.Contains(code.suffix, "sync") || m.TargetNumber() < 70 || m.version() < 604 {
		return ""
	}
	return fmt.Sprintf("%s needs .sync for .target sm_70 or later from .version 6.4 on", word)
}
