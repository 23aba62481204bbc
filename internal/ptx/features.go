package ptx

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// featureRows lists the requirements of opcodes, special registers and directives beyond
// the first GPU and the first version that are supported. The columns:
//
//	cvt       e4m3x2|e5m2x2        89 801         90 708
//	opcodes,  suffixes that make   a bound: the   another bound: the module
//	a|b or *  the feature, or -    least target   must meet one of them
//	for any   for none             and version
//
// A version is 100*major+minor; 0 is no bound. Suffixes joined by + must all be present,
// a|b is either, f32.bf16 is two suffixes in this order, and L1::* is any suffix that
// starts with L1::. A module must meet the bounds of each row that applies.
//
// Figures are the least target and version that ptxas 11.8 accepts. Those of version 8.0
// and later are from the "PTX ISA Notes" and "Target ISA Notes" of each instruction. The
// figures of wmma are those of version 6.0, since ptxas 11.8 no longer accepts the form of
// that version, without .aligned.
const featureRows = `
* cluster|shared::cluster 90 708
* L1::* 70 704
* L2::cache_hint 80 704
* L2::64B|L2::128B 75 704
* L2::256B 80 704
* param::entry|param::func 0 803
* b128 70 803
.blocksareclusters - 90 900
.explicitcluster|.maxclusterrank|.reqnctapercluster - 90 708
%aggr_smem_size - 0 801
%clock_hi - 0 500
%cluster_ctaid|%cluster_ctarank|%cluster_nctaid|%cluster_nctarank|%clusterid|%nclusterid|%is_explicit_cluster - 90 708
%current_graph_exec - 0 800
%dynamic_smem_size|%total_smem_size - 0 401
%globaltimer|%globaltimer_lo|%globaltimer_hi - 0 301
%pm0_64|%pm1_64|%pm2_64|%pm3_64|%pm4_64|%pm5_64|%pm6_64|%pm7_64 - 50 400
%reserved_smem_offset_begin|%reserved_smem_offset_end|%reserved_smem_offset_cap|%reserved_smem_offset_0|%reserved_smem_offset_1 - 80 706
abs f16|f16x2 53 605
abs|neg bf16|bf16x2 80 700
activemask - 0 602
add u16x2|s16x2 90 800
add|sub|addc|subc|mad|madc cc+u64|s64 0 403
add|sub|fma f32.f16|f32.bf16 100 806
add|sub|mul bf16|bf16x2 90 708
add|sub|mul|fma f16|f16x2 53 402
add|sub|mul|fma f32x2 100 806
alloca|stacksave|stackrestore - 52 703
applypriority|createpolicy|discard - 80 704
atom cas+b16 70 603
atom b128 90 803
atom|red|ld|st|cvta|isspacep|ldmatrix|stmatrix|mbarrier|wmma shared::cta 0 708
atom|red relaxed|acquire|release|acq_rel 70 600
atom|red cta|gpu|sys 60 500
atom|red min|max|and|or|xor+u64|s64|b64 35 301
atom|red add+f64 60 500
atom|red add+f16 70 603
atom|red add+f16x2 60 602
atom|red bf16|bf16x2 90 708
atom|red v2|v4|v8 90 801
bar warp 0 600
bar cta 0 708
barrier - 0 600
barrier cta 0 708
barrier acquire|release|relaxed 90 800
bmsk|szext - 70 706
clusterlaunchcontrol - 100 806
cp async|reduce 80 700
cp L2::64B|L2::128B 80 704
cp mbarrier+shared::cta 0 708
cp bulk 90 800
cp bulk+cta_group::* 100 806
cp bulk+cp_mask 100 806
cvt f16|f16x2+relu 80 700
cvt bf16|bf16x2|f16x2.f32|tf32 80 700
cvt f32.bf16 80 701
cvt bf16+u8|u16|u32|u64|s8|s16|s32|s64|f16|f64 90 708
cvt bf16.bf16 90 708
cvt rn|rz+tf32 90 708
cvt rn|rz+satfinite+tf32 100 806
cvt rna+satfinite+tf32 80 801
cvt e4m3x2|e5m2x2 89 801 90 708
cvt e2m1x2|e2m3x2|e3m2x2|ue8m0x2 100 806
cvt rs 100 807
cvt pack 72 605
cvt pack+u4|s4|u2|s2 75 605
cvta|isspacep const 0 301
cvta|isspacep param 70 707
dp2a|dp4a - 61 500
elect - 90 800
ex2 f16|f16x2 75 700
ex2 bf16|bf16x2 90 708
fence - 70 600
fence acquire|release 90 800
fence tensormap::* 90 803
fence sync_restrict::* 90 806
fence|membar proxy 60 705
fence|membar proxy+async* 90 800
fma bf16|bf16x2|relu 80 700
fma oob 90 801
fns - 0 600
getctarank|mapa - 90 708
griddepcontrol - 90 708
istypep - 0 400
ld unified 90 800
ld nc 35 301
ldmatrix - 75 605
ldmatrix|stmatrix m16n16|m16n8 100 806
ld|st weak|relaxed|acquire|release 70 600
ld|st v8 100 808
ld|st v4+b64|u64|s64|f64 100 808
ld|st mmio 70 802
lop3 b32 50 403
lop3 and|or|xor 70 802
match - 70 600
max|min f16|f16x2|bf16|bf16x2|NaN 80 700
max|min xorsign 86 702
max|min relu+s32|s16x2 90 800
max|min u16x2|s16x2 90 800
mbarrier - 80 700
mbarrier parity 80 701
mbarrier try_wait 90 708
mbarrier expect_tx|complete_tx 90 800
mma - 70 604
mma m8n8k16|m8n8k32|m16n8k8 75 605
mma m8n8k128 75 700
mma bf16|tf32|m16n8k16|m16n8k32|m16n8k64|m16n8k128|m16n8k256 80 700
mma m8n8k4+f64 80 700
mma m16n8k4|m16n8k8|m16n8k16+f64 90 708
mma and 80 701
mma sp 80 701
mma sp::ordered_metadata 80 805
mma e4m3|e5m2 89 804
mma kind::* 120 807
movmatrix - 75 708
multimem - 90 801
nanosleep - 70 602
neg f16|f16x2 53 600
prefetch L2::evict_last|L2::evict_normal 80 704
prefetch tensormap 90 800
red async 90 801
redux - 80 700
redux f32 100 806
rsqrt ftz+f64 0 400
set f16|f16x2 53 402
set u16.f16|s16.f16|u32.f16|s32.f16|u32.f16x2|s32.f16x2 53 605
setmaxnreg - 90 800
setp f16|f16x2 53 402
set|setp bf16|bf16x2 90 708
shf - 35 301
shfl|vote sync 0 600
st async 90 801
st bulk 100 806
stmatrix - 90 708
suq array_size 0 401
suq memory_layout 0 402
sust p+a1d|a2d 0 401
tanh - 75 700
tanh bf16|bf16x2 90 708
tcgen05 - 100 806
tensormap - 90 803
tex base|level|grad 0 301
tex 2dms|a2dms 0 302
tex f16|f16x2 53 402
tld4 cube|acube|a1d|a2d 0 403
txq force_unnormalized_coords 0 301
txq array_size|num_mipmap_levels|num_samples 0 401
txq level 0 403
wgmma - 90 800
wmma - 70 600
wmma aligned 70 603
wmma s8|u8|s32 72 603
wmma s4|u4|b1|m8n8k32|m8n8k128 75 603
wmma and 80 701
wmma bf16|tf32|f64|m16n16k8 80 700
`

// feature is the requirement of one form of an opcode.
type feature struct {
	with   [][]string // the form: a suffix out of each of these
	bounds []bound    // by ascending targets
}

// bound is a least target and a least version, 0 where there is none.
type bound struct{ target, version int }

// features holds featureRows by opcode, special register or directive. Rows for any opcode are
// under "*".
var features = func() map[string][]feature {
	table := map[string][]feature{}
	for line := range strings.Lines(featureRows) {
		if fields := strings.Fields(line); len(fields) > 0 {
			f := parseFeature(fields)
			for _, name := range strings.Split(fields[0], "|") {
				table[name] = append(table[name], f)
			}
		}
	}
	return table
}()

// parseFeature parses the fields of a row, without the opcodes.
func parseFeature(fields []string) (f feature) {
	if fields[1] != "-" {
		for _, alternatives := range strings.Split(fields[1], "+") {
			f.with = append(f.with, strings.Split(alternatives, "|"))
		}
	}
	for at := 2; at < len(fields); at += 2 {
		target, targetErr := strconv.Atoi(fields[at])
		version, versionErr := strconv.Atoi(fields[at+1])
		if targetErr != nil || versionErr != nil {
			panic("BUG: features of " + fields[0] + " are no numbers")
		}
		f.bounds = append(f.bounds, bound{target, version})
	}
	return f
}

// featureFault describes the target or version that the module lacks for an instruction, or
// returns "". word is the opcode as written, for the message.
func featureFault(word string, code opcode, m *Module) string {
	// With dots at both ends, a suffix or a pair such as f32.bf16 is found as a substring.
	joined := "." + strings.Join(code.suffix, ".") + "."
	for _, list := range [][]feature{features[code.name], features["*"]} {
		for _, f := range list {
			if !f.fits(joined) {
				continue
			}
			if fault := f.fault(word, m); fault != "" {
				return fault
			}
		}
	}
	return ""
}

// fits reports whether the suffixes, each between dots, have the form of the feature.
func (f *feature) fits(joined string) bool {
	for _, alternatives := range f.with {
		if !slices.ContainsFunc(alternatives, func(s string) bool { return hasSuffix(joined, s) }) {
			return false
		}
	}
	return true
}

// hasSuffix reports whether a suffix of featureRows is among those between dots.
func hasSuffix(joined, suffix string) bool {
	if prefix, ok := strings.CutSuffix(suffix, "*"); ok {
		return strings.Contains(joined, "."+prefix)
	}
	return strings.Contains(joined, "."+suffix+".")
}

// fault describes the bound that a module misses, or returns "" if it meets one. Of several
// bounds it names the last one whose target the module has, else the first. A target or version
// that cannot be parsed meets every bound.
func (f *feature) fault(word string, m *Module) string {
	target, version := m.TargetNumber(), m.version()
	missed := f.bounds[0]
	for _, b := range f.bounds {
		// Bounds ascend by target. A later bound applies if the module's target reaches it.
		if target > 0 && target < b.target {
			continue
		}
		if version == 0 || version >= b.version {
			return ""
		}
		missed = b
	}
	if target > 0 && target < missed.target {
		return fmt.Sprintf("%s needs .target sm_%d or later, and this module is for %s", word, missed.target, m.Target)
	}
	return fmt.Sprintf("%s needs .version %d.%d or later, and this module has %s", word, missed.version/100, missed.version%100, m.Version)
}

// withdrawnFault reports forms that were removed: shfl and vote without .sync,
// for sm_70 and later from version 6.4 on.
func withdrawnFault(word string, code opcode, m *Module) string {
	if code.name != "shfl" && code.name != "vote" || slices.Contains(code.suffix, "sync") || m.TargetNumber() < 70 || m.version() < 604 {
		return ""
	}
	return fmt.Sprintf("%s needs .sync for .target sm_70 or later from .version 6.4 on", word)
}
