package interp

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/internal/unit"
)

// warpOf runs a body on one warp. %p is the address of 64 KiB, %t is %tid.x and %a is %p + 4 %t; %u, %v, %w and %f are
// free.
func warpOf(t *testing.T, body string, threads uint32) Stats {
	t.Helper()
	d := open(t, "k.ptx", `.version 7.0
.target sm_70
.address_size 64
.visible .entry k(.param .u64 p)
{
	.reg .pred %q;
	.reg .b64 %p, %a, %b;
	.reg .b32 %t, %u, %v, %w, %x<8>;
	.reg .f32 %f<8>;
	.shared .align 4 .b8 tile[4096];
	ld.param.u64 %p, [p];
	mov.u32 %t, %tid.x;
	mad.wide.u32 %a, %t, 4, %p;
`+body+"\n\tret;\n}\n")
	return d.run("k", Launch{Grid: dims(1, 1, 1), Block: dims(threads, 1, 1), CacheBytes: 1 << 16, MemoryCycles: 1,
		Params: params(buffer(d, "p", make([]uint32, 16384)))})
}

// Loads overlap wherever they stand, as an assembler moves them up.
func TestIndependentLoadsOverlap(t *testing.T) {
	var apart, together strings.Builder
	for i := range 8 {
		fmt.Fprintf(&apart, "\tld.global.f32 %%f%d, [%%a+%d];\n\tadd.f32 %%f0, %%f0, %%f%[1]d;\n", i, 128*i)
		fmt.Fprintf(&together, "\tld.global.f32 %%f%d, [%%a+%d];\n", i, 128*i)
	}
	for i := range 8 {
		fmt.Fprintf(&together, "\tadd.f32 %%f0, %%f0, %%f%d;\n", i)
	}
	a, b := warpOf(t, apart.String(), 32), warpOf(t, together.String(), 32)
	require.Equal(t, b.Path, a.Path)
	require.EqualValues(t, 1, a.Path.Trips)

	// A load that follows a store may read what it wrote, and the store needs the load before it.
	s := warpOf(t, "\tld.global.u32 %u, [%a];\n\tst.global.u32 [%a+128], %u;\n\tld.global.u32 %v, [%a+256];\n", 32)
	require.EqualValues(t, 2, s.Path.Trips)
}

// On random programs without memory, a warp takes as long as the longest chain of dependent instructions that ends in a
// register, and at least a cycle for each instruction.
func TestPathIsTheLongestChain(t *testing.T) {
	const latency = 4
	r := rand.New(rand.NewPCG(19, 1))
	empty := warpOf(t, "", 32).Path.Cycles
	for round := range 100 {
		var body strings.Builder
		var ready [8]int
		n, issued := 1+r.IntN(60), 0
		for range n {
			d, a, b := r.IntN(8), r.IntN(8), r.IntN(8)
			fmt.Fprintf(&body, "\tadd.u32 %%x%d, %%x%d, %%x%d;\n", d, a, b)
			start := max(ready[a], ready[b])
			ready[d], issued = start+latency, max(issued, start+1)
		}
		longest := max(issued, slices.Max(ready[:]))
		got := warpOf(t, body.String(), 32).Path.Cycles
		require.GreaterOrEqual(t, got, float64(max(n, longest)), "round %d", round)
		require.LessOrEqual(t, got, float64(max(n, longest))+empty, "round %d", round)
	}
}

// An update of one word by all lanes, with one operand, is made by one lane. That its address is the same for all lanes
// must follow from the code.
func TestUniformUpdatesAreMadeOnce(t *testing.T) {
	const one, serial = 1, 32 // operations of L2, where one takes 1.4 cycles
	for _, c := range []struct {
		name, body string
		want       int64
	}{
		{"from a parameter", "red.global.add.u32 [%p], 1;", one},
		{"an unused result", "atom.global.add.u32 %u, [%p], 1;", one},
		{"a maximum", "red.global.max.s32 [%p], 7;", one},
		{"from the block", "mov.u32 %u, %ctaid.x;\n\tmad.wide.u32 %b, %u, 4, %p;\n\tred.global.add.u32 [%b], 1;", one},
		{"from a load by all lanes", "ld.global.u32 %u, [%p];\n\tmad.wide.u32 %b, %u, 4, %p;\n\tred.global.add.u32 [%b], 1;", one},
		{"from the thread", "and.b32 %u, %t, 0;\n\tmad.wide.u32 %b, %u, 4, %p;\n\tred.global.add.u32 [%b], 1;", serial},
		{"from the lane", "mov.u32 %u, %laneid;\n\tshr.u32 %u, %u, 5;\n\tmad.wide.u32 %b, %u, 4, %p;\n\tred.global.add.u32 [%b], 1;", serial},
		{"an operand of the thread's", "red.global.add.u32 [%p], %t;", serial},
		{"of floats", "mov.f32 %f1, 0f3f800000;\n\tred.global.add.f32 [%p], %f1;", serial},
		{"a used result", "atom.global.add.u32 %u, [%p], 1;\n\tst.global.u32 [%a+128], %u;", serial},
		{"an exchange", "mov.u32 %u, 1;\n\tatom.global.exch.b32 %v, [%p], %u;", serial},
	} {
		require.EqualValues(t, c.want, warpOf(t, "\t"+c.body, 32).Updates, c.name)
	}
	words := warpOf(t, "\tred.global.add.u32 [%a], 1;", 32).Updates
	require.EqualValues(t, 19, words, "32 words of a line, 1.7 at a time")
}

// A product that only one sum uses costs nothing: the two are one instruction.
func TestProductsFuse(t *testing.T) {
	flops := func(body string) float64 { return warpOf(t, "\t"+body, 32).Work[unit.FP32] }
	base := flops("mov.f32 %f1, 0f3f800000;")
	for body, want := range map[string]float64{
		"mul.f32 %f1, %f2, %f3;\n\tadd.f32 %f4, %f1, %f5;":                                  1,
		"mul.f32 %f1, %f2, %f3;\n\tsub.f32 %f4, %f5, %f1;":                                  1,
		"mul.ftz.f32 %f1, %f2, %f3;\n\tsub.ftz.f32 %f4, %f1, %f5;":                          1,
		"mul.rn.f32 %f1, %f2, %f3;\n\tadd.f32 %f4, %f1, %f5;":                               2, // states its rounding
		"mul.f32 %f1, %f2, %f3;\n\tadd.rn.f32 %f4, %f1, %f5;":                               2,
		"mul.f32 %f1, %f2, %f3;\n\tadd.f32 %f4, %f1, %f5;\n\tst.global.f32 [%a], %f1;":      2, // used twice
		"mul.f32 %f1, %f2, %f3;\n\tadd.f32 %f4, %f1, %f1;":                                  2,
		"mul.f32 %f1, %f2, %f3;\n\tmul.f32 %f4, %f1, %f5;":                                  2,
		"mul.f32 %f1, %f2, %f3;\n\tmul.f32 %f1, %f1, %f3;\n\tadd.f32 %f4, %f1, %f5;":        3, // defined twice
		"mul.f32 %f1, %f2, %f3;\n\tmul.f32 %f6, %f2, %f5;\n\tadd.f32 %f4, %f1, %f6;":        2, // one of them
		"mul.f32 %f1, %f2, %f3;\n\tadd.f32 %f4, %f1, %f5;\n\tadd.f32 %f4, %f4, %f2;":        2,
		"fma.rn.f32 %f1, %f2, %f3, %f4;":                                                    1,
		"mul.f32 %f1, %f2, %f3;\n\tsetp.gt.f32 %q, %f1, %f2;\n\t@%q add.f32 %f4, %f5, %f5;": 2,
	} {
		require.Equal(t, want, flops(body)-base, body)
	}
}

// Loads that hit L1 take the cycles of the busiest bank, or of the look-up of their lines. The banks are counted by
// brute force.
func TestStridesThatHit(t *testing.T) {
	for stride := range 40 {
		load := fmt.Sprintf("\tmul.lo.u32 %%u, %%t, %d;\n\tmad.wide.u32 %%b, %%u, 4, %%p;\n", stride)
		const hit = "\tld.global.u32 %v, [%b];\n"
		once, often := warpOf(t, load+hit, 32), warpOf(t, load+strings.Repeat(hit, 101), 32)
		var banks [32]map[int]bool
		lines, busiest := map[int]bool{}, 0
		for lane := range 32 {
			word := lane * stride
			if banks[word%32] == nil {
				banks[word%32] = map[int]bool{}
			}
			banks[word%32][word] = true
			busiest = max(busiest, len(banks[word%32]))
			lines[word/32] = true
		}
		want := max(float64(busiest), 0.6+float64(len(lines))/4)
		require.InDelta(t, want, (often.Work[unit.Memory]-once.Work[unit.Memory])/100, 0.02, "stride %d", stride)
		require.GreaterOrEqual(t, want, 1.0)
	}
}

// A request of one sector occupies a slice of L2 as long as one of a pair.
func TestPairsOfSectors(t *testing.T) {
	for stride, want := range map[int]float64{1: 1, 2: 1, 4: 1, 8: 1, 16: 2, 32: 2} {
		s := warpOf(t, fmt.Sprintf("\tmul.lo.u32 %%u, %%t, %d;\n\tmad.wide.u32 %%b, %%u, 4, %%p;\n\tst.global.u32 [%%b], %%t;", stride), 32)
		require.Equal(t, want, s.Pairing, "stride %d", stride)
	}
}

// Lanes that update the same word of shared memory wait for each other.
func TestSharedUpdatesOfOneWord(t *testing.T) {
	for lanes, want := range map[uint32]float64{1: 1, 2: 1 + updateCycles, 32: 1 + 31*updateCycles} {
		with := warpOf(t, "\tmov.u32 %u, tile;\n\tred.shared.add.u32 [%u], 1;", lanes)
		require.Equal(t, want, with.Work[unit.Memory], "%d lanes", lanes)
	}
	spread := warpOf(t, "\tmov.u32 %u, tile;\n\tmad.lo.u32 %u, %t, 4, %u;\n\tred.shared.add.u32 [%u], 1;", 32)
	require.EqualValues(t, 1, spread.Work[unit.Memory])
}

// The path of a block counts the barriers that it passes, in loops too.
func TestBarriersOnThePath(t *testing.T) {
	for n := range 5 {
		body := fmt.Sprintf("\tmov.u32 %%u, 0;\nL:\n\tbar.sync 0;\n\tadd.u32 %%u, %%u, 1;\n\tsetp.lt.u32 %%q, %%u, %d;\n\t@%%q bra L;", n+1)
		require.EqualValues(t, n+1, warpOf(t, body, 128).Path.Barriers)
	}
	require.Zero(t, warpOf(t, "", 128).Path.Barriers)
}

// Loads of constants come from a cache of their own: one instruction if the code shows that all lanes load the same
// word, else a cycle of the memory unit for each word.
func TestConstants(t *testing.T) {
	module := `.version 7.0
.target sm_70
.address_size 64
.const .align 4 .b8 table[128] = {7, 0, 0, 0, 9};
.visible .entry k(.param .u64 p)
{
	.reg .b64 %p, %c;
	.reg .b32 %t, %u, %v;
	ld.param.u64 %p, [p];
	mov.u32 %t, %tid.x;
	mad.wide.u32 %p, %t, 4, %p;
	mov.u64 %c, table;
BODY
	st.global.u32 [%p], %v;
	ret;
}
`
	for _, c := range []struct {
		name, body string
		memory     float64 // cycles of the memory unit
		sum        uint32
	}{
		{"one word", "ld.const.u32 %v, [table+4];", 1, 32 * 9},
		{"one word, by address", "ld.const.u32 %v, [%c];", 1, 32 * 7},
		{"a word each", "mad.wide.u32 %c, %t, 4, %c;\n\tld.const.u32 %v, [%c];", 33, 7 + 9},
		{"one word, as threads happen to compute it", "shr.u32 %u, %t, 5;\n\tmad.wide.u32 %c, %u, 4, %c;\n\tld.const.u32 %v, [%c];", 2, 32 * 7},
	} {
		d := open(t, "k.ptx", strings.Replace(module, "BODY", "\t"+c.body, 1))
		p := buffer(d, "p", make([]uint32, 32))
		s := d.run("k", Launch{Grid: dims(1, 1, 1), Block: dims(32, 1, 1), CacheBytes: 1 << 16, Params: params(p)})
		require.Equal(t, c.memory, s.Work[unit.Memory], c.name)
		require.Zero(t, s.SectorsRead, c.name)
		sum := uint32(0)
		for _, v := range contents[uint32](d, p) {
			sum += v
		}
		require.Equal(t, c.sum, sum, c.name)
	}
}
