package calibrate

import (
	"fmt"
	"strings"
)

// otherPTX returns the kernels other than repeated instructions of one unit.
func otherPTX() string {
	return strings.NewReplacer(
		"FMA64\n", strings.Repeat("\tfma.rn.f32 %x, %x, %one, %one;\n", 64),
		"CHASE_L1\n", strings.Repeat("\tld.global.ca.u64 %at, [%at];\n", 64),
		"CHASE_L2\n", strings.Repeat("\tld.global.cg.u64 %at, [%at];\n", 64),
		"READ8\n", read8(),
		"WRITE8\n", write8(),
		"READ4\n", read4(),
	).Replace(otherTemplate)
}

// read8 loads eight times four words, all before their first use, and adds them up in %v0.
func read8() string {
	var b strings.Builder
	for k := range 8 {
		fmt.Fprintf(&b, "\tld.global.cg.v4.u32 {%%v%d, %%v%d, %%v%d, %%v%d}, [%%from+%d];\n", 4*k, 4*k+1, 4*k+2, 4*k+3, 4096*k)
	}
	for i := 1; i < 32; i++ {
		fmt.Fprintf(&b, "\tadd.u32 %%v0, %%v0, %%v%d;\n", i)
	}
	return b.String()
}

func write8() string {
	var b strings.Builder
	for k := range 8 {
		fmt.Fprintf(&b, "\tst.global.v4.u32 [%%to+%d], {%%v, %%v, %%v, %%v};\n", 4096*k)
	}
	return b.String()
}

// read4 loads four times four words from the next four chunks and adds them to %sum. It adds floats, because integer
// additions would occupy the pipe that computes the addresses.
func read4() string {
	var b strings.Builder
	for k := range 4 {
		fmt.Fprintf(&b, "\tand.b32 %%r, %%c, %%mask;\n\tadd.u32 %%c, %%c, 1;\n\tmul.wide.u32 %%at, %%r, 16384;\n\tadd.u64 %%at, %%at, %%from;\n")
		fmt.Fprintf(&b, "\tld.global.cg.v4.f32 {%%v%d, %%v%d, %%v%d, %%v%d}, [%%at];\n", 4*k, 4*k+1, 4*k+2, 4*k+3)
	}
	for i := range 16 {
		fmt.Fprintf(&b, "\tadd.rn.f32 %%sum, %%sum, %%v%d;\n", i)
	}
	return b.String()
}

const otherTemplate = `
// Nothing.
.visible .entry empty()
{
	ret;
}

// One word.
.visible .entry store(.param .u64 store_out)
{
	.reg .b64 %out;
	ld.param.u64 %out, [store_out];
	cvta.to.global.u64 %out, %out;
	st.global.u32 [%out], 1;
	ret;
}

// One turn of a loop costs one taken branch; the count is a float, so that it
// does not wait for the pipe of the comparison.
.visible .entry rate_branch(.param .u64 rate_branch_out, .param .u32 rate_branch_n)
{
	.reg .pred %again;
	.reg .b32 %t, %n, %r;
	.reg .f32 %i, %end;
	.reg .b64 %out, %at;
	ld.param.u64 %out, [rate_branch_out];
	ld.param.u32 %n, [rate_branch_n];
	mov.u32 %t, %tid.x;
	cvt.rn.f32.u32 %end, %n;
	mov.f32 %i, 0f00000000;
LOOP:
	.pragma "nounroll";
	add.rn.f32 %i, %i, 0f3f800000;
	setp.lt.f32 %again, %i, %end;
	@%again bra LOOP;
	cvt.rzi.u32.f32 %r, %i;
	cvta.to.global.u64 %out, %out;
	mul.wide.u32 %at, %t, 4;
	add.u64 %out, %out, %at;
	st.global.u32 [%out], %r;
	ret;
}

// How many cycles n times 64 dependent multiply-adds take, and their result.
.visible .entry clock(.param .u64 clock_out, .param .u32 clock_n, .param .f32 clock_one)
{
	.reg .pred %again;
	.reg .b32 %n;
	.reg .f32 %x, %one;
	.reg .b64 %out, %begin, %end;
	ld.param.u64 %out, [clock_out];
	ld.param.u32 %n, [clock_n];
	ld.param.f32 %one, [clock_one];
	cvta.to.global.u64 %out, %out;
	mov.f32 %x, 0f00000000;
	mov.u64 %begin, %clock64;
LOOP:
	.pragma "nounroll";
FMA64
	sub.u32 %n, %n, 1;
	setp.ne.u32 %again, %n, 0;
	@%again bra LOOP;
	mov.u64 %end, %clock64;
	sub.u64 %end, %end, %begin;
	st.global.u64 [%out], %end;
	st.global.f32 [%out+8], %x;
	ret;
}

// n times 64 steps along a chain of addresses, in L1 and in L2. One thread goes; the
// others are there so that the block has the multiprocessor's L1 to itself.
.visible .entry chase_l1(.param .u64 chase_l1_out, .param .u32 chase_l1_n, .param .u64 chase_l1_at)
{
	.reg .pred %again, %idle;
	.reg .b32 %n, %t;
	.reg .b64 %out, %at;
	mov.u32 %t, %tid.x;
	setp.ne.u32 %idle, %t, 0;
	@%idle ret;
	ld.param.u64 %out, [chase_l1_out];
	ld.param.u32 %n, [chase_l1_n];
	ld.param.u64 %at, [chase_l1_at];
	cvta.to.global.u64 %out, %out;
LOOP:
	.pragma "nounroll";
CHASE_L1
	sub.u32 %n, %n, 1;
	setp.ne.u32 %again, %n, 0;
	@%again bra LOOP;
	st.global.u64 [%out], %at;
	ret;
}

.visible .entry chase_l2(.param .u64 chase_l2_out, .param .u32 chase_l2_n, .param .u64 chase_l2_at)
{
	.reg .pred %again, %idle;
	.reg .b32 %n, %t;
	.reg .b64 %out, %at;
	mov.u32 %t, %tid.x;
	setp.ne.u32 %idle, %t, 0;
	@%idle ret;
	ld.param.u64 %out, [chase_l2_out];
	ld.param.u32 %n, [chase_l2_n];
	ld.param.u64 %at, [chase_l2_at];
	cvta.to.global.u64 %out, %out;
LOOP:
	.pragma "nounroll";
CHASE_L2
	sub.u32 %n, %n, 1;
	setp.ne.u32 %again, %n, 0;
	@%again bra LOOP;
	st.global.u64 [%out], %at;
	ret;
}

// Each block reads 32 KB: 256 threads, each of which reads eight times 16 bytes. A thread whose words
// do not add up to the given sum stores a flag.
.visible .entry dram_read(.param .u64 dram_read_out, .param .u64 dram_read_from, .param .u32 dram_read_want)
{
	.reg .pred %wrong;
	.reg .b32 %t, %b, %want, %v<32>;
	.reg .b64 %out, %from, %at;
	ld.param.u64 %out, [dram_read_out];
	ld.param.u64 %from, [dram_read_from];
	ld.param.u32 %want, [dram_read_want];
	cvta.to.global.u64 %out, %out;
	cvta.to.global.u64 %from, %from;
	mov.u32 %t, %tid.x;
	mov.u32 %b, %ctaid.x;
	mul.wide.u32 %at, %b, 32768;
	add.u64 %from, %from, %at;
	mul.wide.u32 %at, %t, 16;
	add.u64 %from, %from, %at;
READ8
	setp.ne.u32 %wrong, %v0, %want;
	mov.u32 %t, 1;
	@%wrong st.global.u32 [%out], %t;
	ret;
}

// The same the other way round.
.visible .entry dram_write(.param .u64 dram_write_to, .param .u32 dram_write_v)
{
	.reg .b32 %t, %b, %v;
	.reg .b64 %to, %at;
	ld.param.u64 %to, [dram_write_to];
	ld.param.u32 %v, [dram_write_v];
	cvta.to.global.u64 %to, %to;
	mov.u32 %t, %tid.x;
	mov.u32 %b, %ctaid.x;
	mul.wide.u32 %at, %b, 32768;
	add.u64 %to, %to, %at;
	mul.wide.u32 %at, %t, 16;
	add.u64 %to, %to, %at;
WRITE8
	ret;
}

// n times, each block reads four chunks of 16 KB, other ones each time and past L1. There
// are mask+1 chunks, filled with the float 1.
.visible .entry l2_read(.param .u64 l2_read_out, .param .u64 l2_read_from, .param .u32 l2_read_n, .param .u32 l2_read_mask)
{
	.reg .pred %wrong, %again;
	.reg .b32 %t, %c, %r, %n, %mask;
	.reg .f32 %want, %sum, %v<16>;
	.reg .b64 %out, %from, %at;
	ld.param.u64 %out, [l2_read_out];
	ld.param.u64 %from, [l2_read_from];
	ld.param.u32 %n, [l2_read_n];
	ld.param.u32 %mask, [l2_read_mask];
	cvta.to.global.u64 %out, %out;
	cvta.to.global.u64 %from, %from;
	mov.u32 %t, %tid.x;
	mov.u32 %c, %ctaid.x;
	mul.lo.u32 %c, %c, 7;
	mul.wide.u32 %at, %t, 16;
	add.u64 %from, %from, %at;
	cvt.rn.f32.u32 %want, %n;
	mul.rn.f32 %want, %want, 0f41800000;
	mov.f32 %sum, 0f00000000;
LOOP:
	.pragma "nounroll";
READ4
	sub.u32 %n, %n, 1;
	setp.ne.u32 %again, %n, 0;
	@%again bra LOOP;
	setp.neu.f32 %wrong, %sum, %want;
	mov.u32 %r, 1;
	@%wrong st.global.u32 [%out], %r;
	ret;
}

// n times, each warp adds 1 to one word from all its lanes, to another word each time.
.visible .entry atomics(.param .u64 atomics_to, .param .u32 atomics_n)
{
	.reg .pred %again;
	.reg .b32 %t, %b, %size, %n, %w, %one;
	.reg .b64 %to, %at;
	ld.param.u64 %to, [atomics_to];
	ld.param.u32 %n, [atomics_n];
	cvta.to.global.u64 %to, %to;
	mov.u32 %t, %tid.x;
	mov.u32 %b, %ctaid.x;
	mov.u32 %size, %ntid.x;
	mad.lo.u32 %w, %b, %size, %t;
	shr.u32 %w, %w, 5;
	mul.lo.u32 %w, %w, %n;
	mul.wide.u32 %at, %w, 128;
	add.u64 %to, %to, %at;
	mov.u32 %one, 1;
LOOP:
	.pragma "nounroll";
	red.global.add.u32 [%to], %one;
	add.u64 %to, %to, 128;
	sub.u32 %n, %n, 1;
	setp.ne.u32 %again, %n, 0;
	@%again bra LOOP;
	ret;
}
`
