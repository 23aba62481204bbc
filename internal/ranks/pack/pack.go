// Package pack has the kernels that copy bytes with a stride between memories, one thread for each element.
package pack

import (
	"fmt"
	"strings"
)

// Threads is the number of threads of a block.
const Threads = 256

// Element returns the size of the elements that are copied, in bytes: the largest power of two up to 8 that divides all numbers.
func Element(numbers ...uint64) int64 {
	all := uint64(8)
	for _, n := range numbers {
		all |= n
	}
	return int64(all & -all)
}

// Blocks returns the number of blocks that copy a number of elements. An error is a number of 2^32 or more.
func Blocks(elements int64) (uint32, error) {
	if elements >= 1<<32 {
		return 0, fmt.Errorf("a transfer with a stride has %d elements, and at most %d are supported: use more devices", elements, uint64(1<<32-1))
	}
	return uint32((elements + Threads - 1) / Threads), nil
}

// PTX is the module. Kernel packN copies elements of N bits: element i of n is element i mod width of row i / width.
//
//	.visible .entry packN(u64 dst, u64 src, u64 dst_pitch, u64 src_pitch, u32 width, u32 n)
var PTX = text()

func text() string {
	b := &strings.Builder{}
	b.WriteString(".version 6.0\n.target sm_50\n.address_size 64\n")
	for _, bits := range []int{8, 16, 32, 64} {
		reg := max(bits, 16)
		b.WriteString(strings.NewReplacer("BITS", fmt.Sprint(bits), "REG", fmt.Sprint(reg), "SIZE", fmt.Sprint(bits/8)).Replace(kernel))
	}
	return b.String()
}

const kernel = `
.visible .entry packBITS(.param .u64 dst, .param .u64 src, .param .u64 dst_pitch, .param .u64 src_pitch, .param .u32 width, .param .u32 n)
{
	.reg .pred %p<2>;
	.reg .u32 %r<9>;
	.reg .u64 %rd<12>;
	.reg .bREG %x;
	ld.param.u64 %rd1, [dst];
	ld.param.u64 %rd2, [src];
	ld.param.u64 %rd3, [dst_pitch];
	ld.param.u64 %rd4, [src_pitch];
	ld.param.u32 %r1, [width];
	ld.param.u32 %r2, [n];
	mov.u32 %r3, %ctaid.x;
	mov.u32 %r4, %ntid.x;
	mov.u32 %r5, %tid.x;
	mad.lo.u32 %r6, %r3, %r4, %r5;
	setp.ge.u32 %p1, %r6, %r2;
	@%p1 bra DONE;
	div.u32 %r7, %r6, %r1;
	rem.u32 %r8, %r6, %r1;
	cvt.u64.u32 %rd5, %r7;
	mul.wide.u32 %rd6, %r8, SIZE;
	mad.lo.u64 %rd7, %rd5, %rd4, %rd6;
	mad.lo.u64 %rd8, %rd5, %rd3, %rd6;
	add.u64 %rd9, %rd2, %rd7;
	add.u64 %rd10, %rd1, %rd8;
	ld.global.bBITS %x, [%rd9];
	st.global.bBITS [%rd10], %x;
DONE:
	ret;
}
`
