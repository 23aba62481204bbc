package access

import (
	"encoding/binary"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// decidedBodies are bodies of kernels over a and b, which are %rd1 and %rd2, n in %r1 and m in %r2. They write through a, and the comment at
// the end of a write's line says whether the launch decides its address.
var decidedBodies = []struct{ name, body string }{
	{"one loop", `
		mov.u32 %r10, 0;
		L: mul.wide.u32 %rd10, %r10, 4; add.s64 %rd11, %rd1, %rd10;
		st.global.u32 [%rd11], %r1; // decided
		add.u32 %r10, %r10, 1; setp.lt.u32 %p1, %r10, %r1;
		@%p1 bra L;`},
	{"two loops, of which the outer takes a number from memory", `
		mov.u32 %r10, 0; mov.u32 %r11, 0;
		OUTER: and.b32 %r12, %r10, 63; mul.wide.u32 %rd10, %r12, 4; add.s64 %rd11, %rd1, %rd10;
		st.global.u32 [%rd11], %r1; // loaded
		mov.u32 %r13, %r10; mov.u32 %r14, 0;
		INNER: and.b32 %r12, %r13, 63; mul.wide.u32 %rd12, %r12, 4; add.s64 %rd13, %rd1, %rd12;
		st.global.u32 [%rd13], %r14; // loaded
		add.u32 %r13, %r13, 1; add.u32 %r14, %r14, 1; setp.lt.u32 %p1, %r14, %r1;
		@%p1 bra INNER;
		mul.wide.u32 %rd16, %r14, 4; add.s64 %rd17, %rd1, %rd16;
		st.global.u32 [%rd17], %r14; // decided
		ld.global.u32 %r15, [%rd2]; setp.gt.u32 %p2, %r1, 5; selp.u32 %r10, %r13, %r15, %p2;
		add.u32 %r11, %r11, 1; setp.lt.u32 %p3, %r11, %r1;
		@%p3 bra OUTER;
		mul.wide.u32 %rd14, %r11, 4; add.s64 %rd15, %rd1, %rd14;
		st.global.u32 [%rd15], %r1; // decided`},
	{"two loops of decided numbers", `
		mov.u32 %r10, 0; mov.u32 %r11, 0;
		OUTER: and.b32 %r12, %r10, 63; mul.wide.u32 %rd10, %r12, 4; add.s64 %rd11, %rd1, %rd10;
		st.global.u32 [%rd11], %r1; // decided
		mov.u32 %r13, %r10; mov.u32 %r14, 0;
		INNER: and.b32 %r12, %r13, 63; mul.wide.u32 %rd12, %r12, 4; add.s64 %rd13, %rd1, %rd12;
		st.global.u32 [%rd13], %r14; // decided
		add.u32 %r13, %r13, 1; add.u32 %r14, %r14, 1; setp.lt.u32 %p1, %r14, %r1;
		@%p1 bra INNER;
		setp.gt.u32 %p2, %r1, 5; selp.u32 %r10, %r13, %r2, %p2;
		add.u32 %r11, %r11, 1; setp.lt.u32 %p3, %r11, %r1;
		@%p3 bra OUTER;`},
	{"two variables of one loop that change places", `
		mov.u32 %r10, 0; mov.u32 %r11, 1; mov.u32 %r16, 0;
		L: and.b32 %r17, %r10, 63; mul.wide.u32 %rd10, %r17, 4; add.s64 %rd11, %rd1, %rd10;
		st.global.u32 [%rd11], %r1; // loaded
		and.b32 %r17, %r11, 63; mul.wide.u32 %rd12, %r17, 4; add.s64 %rd13, %rd1, %rd12;
		st.global.u32 [%rd13], %r1; // loaded
		mul.wide.u32 %rd14, %r16, 4; add.s64 %rd15, %rd1, %rd14;
		st.global.u32 [%rd15], %r1; // decided
		mov.u32 %r12, %r10; mov.u32 %r10, %r11; ld.global.u32 %r13, [%rd2]; add.u32 %r11, %r12, %r13;
		add.u32 %r16, %r16, 1; setp.lt.u32 %p1, %r16, %r1;
		@%p1 bra L;`},
	{"a loop of a loaded number of turns in another", `
		mov.u32 %r10, 0;
		OUTER: mul.wide.u32 %rd10, %r10, 4; add.s64 %rd11, %rd1, %rd10;
		st.global.u32 [%rd11], %r1; // decided
		mov.u32 %r14, 0;
		INNER: mul.wide.u32 %rd12, %r10, 4; add.s64 %rd13, %rd1, %rd12;
		st.global.u32 [%rd13], %r14; // loaded
		ld.global.u32 %r15, [%rd2]; add.u32 %r14, %r14, 1; setp.lt.u32 %p1, %r14, %r15;
		@%p1 bra INNER;
		add.u32 %r10, %r10, 1; setp.lt.u32 %p3, %r10, %r1;
		@%p3 bra OUTER;`},
}

// TestDecided checks the accesses in both orders, since results are kept.
func TestDecided(t *testing.T) {
	for _, test := range decidedBodies {
		lines := strings.Split(test.body, "\n")
		for _, reverse := range []bool{false, true} {
			m, f := footprintKernel(t, test.body)
			fp := NewFootprint(m, f)
			first := 2 // line of the file where the body begins
			writes := 0
			ranges := slices.Clone(fp.Ranges)
			if reverse {
				slices.Reverse(ranges)
			}
			for i := range ranges {
				r := &ranges[i]
				if r.Access != Write {
					continue
				}
				writes++
				line := lines[r.Pos.Line-first]
				assert.Equal(t, strings.HasSuffix(line, "// decided"), fp.Decided(r), "%s, reverse %v: %s", test.name, reverse, line)
			}
			assert.Equal(t, strings.Count(test.body, "st.global"), writes, test.name)
		}
	}
}

// Searches for a thread that leaves a span do no more than the work that they are given.
func TestOutsideIsBoundedByItsWork(t *testing.T) {
	m, f := footprintKernel(t, `
		mov.u32 %r10, 0;
		L: mul.wide.u32 %rd10, %r10, 4; add.s64 %rd11, %rd1, %rd10;
		st.global.u32 [%rd11], %r1;
		add.u32 %r10, %r10, 3; setp.lt.u32 %p1, %r10, %r1;
		@%p1 bra L;`)
	fp := NewFootprint(m, f)
	l := &Launch{Grid: [3]uint32{1, 1, 1}, Block: [3]uint32{1, 1, 1}, Params: make([]byte, f.ParamBytes())}
	binary.LittleEndian.PutUint32(l.Params[f.Params[2].Offset:], 1000)
	for _, test := range []struct {
		work, left int
		found      bool
	}{{0, 0, false}, {100, 0, false}, {1000, 1000 - 336, true}} {
		left := test.work
		l.Work = &left
		_, ok := fp.Outside(l, 0, Span{0, 3996}) // of 334 turns the last leaves
		assert.Equal(t, test.found, ok, "%d", test.work)
		assert.InDelta(t, test.left, left, 3, "%d", test.work)
	}
}

// Outside finds a thread of a part of a launch only if one of its blocks leaves the span.
func TestOutsideWithinBlocks(t *testing.T) {
	m, f := footprintKernel(t, "mul.wide.s32 %rd4, %r6, 4; add.s64 %rd5, %rd1, %rd4; st.global.u32 [%rd5], %r1; ret;")
	fp := NewFootprint(m, f)
	l := &Launch{Grid: [3]uint32{4, 1, 1}, Block: [3]uint32{64, 1, 1}, Params: make([]byte, f.ParamBytes())}
	binary.LittleEndian.PutUint64(l.Params, footprintA)
	leaves := func(first, count uint32) bool {
		part := l.Within([3]uint32{first, 0, 0}, [3]uint32{count, 1, 1})
		touch, found := fp.Outside(&part, 0, Span{256, 768})
		assert.True(t, !found || touch.Block[0] >= first && touch.Block[0] < first+count)
		return found
	}
	assert.False(t, leaves(1, 2))
	assert.True(t, leaves(0, 2))
	assert.True(t, leaves(2, 2))
}
