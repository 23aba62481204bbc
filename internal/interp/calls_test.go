package interp

import (
	"fmt"
	"os"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// openCalls loads the kernels that nvcc compiled from testdata/calls.cu.
func openCalls(t testing.TB) *device {
	src, err := os.ReadFile("testdata/calls.ptx")
	require.NoError(t, err)
	return open(t, "calls.ptx", string(src))
}

const callers = 48 // one warp and a half

// called runs a kernel of calls.cu on one block and returns the contents of out.
func called[T any](t *testing.T, entry string, out []T) []T {
	d := openCalls(t)
	addr := buffer(d, "out", out)
	d.run(entry, Launch{Grid: dims(1, 1, 1), Block: dims(callers, 1, 1), Params: params(addr)})
	return contents[T](d, addr)
}

func TestRecursion(t *testing.T) {
	var fib func(n uint32) uint32
	fib = func(n uint32) uint32 {
		if n < 2 {
			return n
		}
		return fib(n-1) + fib(n-2)
	}
	var ackermann func(m, n uint32) uint32
	ackermann = func(m, n uint32) uint32 {
		switch {
		case m == 0:
			return n + 1
		case n == 0:
			return ackermann(m-1, 1)
		}
		return ackermann(m-1, ackermann(m, n-1))
	}
	got := called(t, "recurse", make([]uint32, 3*callers))
	for i := range uint32(callers) {
		require.Equal(t, []uint32{fib(i % 12), ackermann(i%3, i%5), 1 - i%2}, got[3*i:3*i+3], "thread %d", i)
	}
}

func TestFramesHaveVariablesOfTheirOwn(t *testing.T) {
	var permute func(a [4]int32, k, n int, sum *uint32)
	permute = func(a [4]int32, k, n int, sum *uint32) {
		if k == n {
			*sum = *sum*31 + uint32(a[0]*1000+a[1]*100+a[2]*10+a[3])
			return
		}
		for i := k; i < n; i++ {
			a[k], a[i] = a[i], a[k]
			permute(a, k+1, n, sum)
		}
	}
	got := called(t, "permutations", make([]uint32, callers))
	for i := range int32(callers) {
		var sum uint32
		permute([4]int32{i % 10, (i + 1) % 10, (i + 2) % 10, (i + 3) % 10}, 0, int(1+i%4), &sum)
		require.Equal(t, sum, got[i], "thread %d", i)
	}
}

func TestRecursiveSort(t *testing.T) {
	const n = 50
	d := openCalls(t)
	a := make([]int32, n*callers)
	for i, v := range random(len(a), 9) {
		a[i] = int32(v * 1000)
	}
	addr := buffer(d, "a", a)
	d.run("sorts", Launch{Grid: dims(1, 1, 1), Block: dims(callers, 1, 1), Params: params(addr, int32(n))})
	for i := range callers {
		slices.Sort(a[i*n : (i+1)*n])
	}
	require.Equal(t, a, contents[int32](d, addr))
}

func TestCallsThroughPointers(t *testing.T) {
	power := func(a, b int32) int32 { return a * a * a }
	table := []func(a, b int32) int32{
		func(a, b int32) int32 { return a + b }, func(a, b int32) int32 { return a - b },
		func(a, b int32) int32 { return a * b }, power,
	}
	got := called(t, "pointers", make([]int32, callers))
	for i := range int32(callers) {
		require.Equal(t, table[i%4](i, 3), got[i], "thread %d", i)
	}
}

func TestRecursionThroughPointers(t *testing.T) {
	var steps [2]func(n, acc, mode int32) int32
	steps[0] = func(n, acc, mode int32) int32 {
		if n <= 0 {
			return acc
		}
		return steps[(n+mode)%2](n-1, acc*3+n, mode)
	}
	steps[1] = func(n, acc, mode int32) int32 {
		if n <= 0 {
			return -acc
		}
		return steps[n%2](n-1, acc+mode, mode)
	}
	got := called(t, "chain", make([]int32, callers))
	for i := range int32(callers) {
		require.Equal(t, steps[i%2](i%9, 1, i), got[i], "thread %d", i)
	}
}

func TestVirtualFunctions(t *testing.T) {
	got := called(t, "areas", make([]float32, callers))
	for i := range callers {
		f := float32(i)
		want := f*f + 2*f*2
		if i%2 == 1 {
			want = f*2 + 2*f*f
		}
		require.Equal(t, want, got[i], "thread %d", i)
	}
}

func TestEndlessRecursionIsAFault(t *testing.T) {
	d := openCalls(t)
	addr := buffer(d, "out", make([]uint32, 2))
	_, f := d.kernel("endless").Run(d.mem, Launch{Grid: dims(1, 1, 1), Block: dims(33, 1, 1), Params: params(addr)})
	require.NotNil(t, f)
	require.Equal(t, StackOverflow, f.Kind)
	require.Contains(t, f.Error(), "call of _Z3fibj: its frame of")
}

// A chain of functions that each call the next twice would be copied 2^40 times.
func TestDeepCallTree(t *testing.T) {
	src := ".version 7.8\n.target sm_75\n.address_size 64\n"
	const depth = 40
	for i := range depth {
		body := "add.u32 %x, %x, 1;"
		if i > 0 {
			call := fmt.Sprintf("{ .param .b32 p; .param .b32 r; st.param.b32 [p], %%x; call.uni (r), f%d, (p); ld.param.b32 %%x, [r]; }\n", i-1)
			body = "@%p bra DONE;\n" + call + "and.b32 %y, %x, 7; setp.ne.u32 %p, %y, 0; @%p bra DONE;\n" + call + "DONE:"
		}
		src += fmt.Sprintf(".func (.param .b32 out) f%d(.param .b32 in)\n{\n.reg .b32 %%x, %%y; .reg .pred %%p; ld.param.b32 %%x, [in]; setp.gt.u32 %%p, %%x, 1000;\n%s\nst.param.b32 [out], %%x;\nret;\n}\n", i, body)
	}
	src += fmt.Sprintf(`.visible .entry tree(.param .u64 out)
{
.reg .b32 %%r<3>; .reg .b64 %%a<3>;
mov.u32 %%r1, %%tid.x; { .param .b32 p; .param .b32 r; st.param.b32 [p], %%r1; call.uni (r), f%d, (p); ld.param.b32 %%r2, [r]; }
ld.param.u64 %%a1, [out]; mul.wide.u32 %%a2, %%r1, 4; add.s64 %%a1, %%a1, %%a2; st.global.u32 [%%a1], %%r2; ret;
}`, depth-1)
	var f func(i int, x uint32) uint32
	f = func(i int, x uint32) uint32 {
		switch {
		case i == 0:
			return x + 1
		case x > 1000:
			return x
		}
		if x = f(i-1, x); x&7 == 0 {
			x = f(i-1, x)
		}
		return x
	}
	d := open(t, "tree.ptx", src)
	out := buffer(d, "out", make([]uint32, 40))
	d.run("tree", Launch{Grid: dims(1, 1, 1), Block: dims(40, 1, 1), Params: params(out)})
	for i, got := range contents[uint32](d, out) {
		require.Equal(t, f(depth-1, uint32(i)), got, "thread %d", i)
	}
}
