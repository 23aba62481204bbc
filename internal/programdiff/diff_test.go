package programdiff

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/ir"
)

func load(t *testing.T, ops string) *ir.File {
	return parse(t, "graph g {\n  buffer @x f32[64] device(0) inout\n  buffer @y f32[64] device(0) inout\n"+ops+"}\n")
}

func parse(t *testing.T, text string) *ir.File {
	f, err := ir.Load("x.rir", text)
	require.NoError(t, err)
	return f
}

func TestDifference(t *testing.T) {
	a := load(t, "%0 = memset @x u32=1\n%1 = copy @x -> @y\n%2 = memset @y u32=3 label(\"end\")\n")
	b := load(t, "%0 = memset @x u32=2\n%1 = memset @y u32=0 label(\"new\")\n%2 = copy @x -> @y\n")
	d := Of(a, b)
	assert.Equal(t, []string{"%2 end"}, d.Removed)
	assert.Equal(t, []string{"%1 new"}, d.Added)
	assert.Equal(t, []Change{{"%0 memset", "%0 memset", []string{"value u32=1 -> u32=2"}}}, d.Changed)
	assert.False(t, d.Equal())
	assert.True(t, Of(a, a).Equal())
}

// TestDeclarationsDiffer expects changes of a parameter, of buffers and of their contents, although no operation differs.
func TestDeclarationsDiffer(t *testing.T) {
	a := parse(t, `graph g {
  param $alpha f32 = 0.2
  param $gone i32 = 1
  buffer @x f32[8] device(0) inout
  buffer @y f32[8] device(0) inout
  buffer @z f32[8] device(0) temporary
}
contents {
  @x = uniform(1, 0, 1)
}
`)
	b := parse(t, `graph g {
  param $alpha f32 = 0.25
  buffer @x f32[8] device(0) inout
  buffer @y f64[16] device(0) constant
  buffer @new f32[8] device(0) temporary
  buffer @z f32[8] device(0) temporary
}
contents {
  @x = uniform(2, 0, 1)
  @y = fill(1)
}
`)
	d := Of(a, b)
	assert.Equal(t, []string{"param $gone"}, d.Removed)
	assert.Equal(t, []string{"buffer @new"}, d.Added)
	assert.Equal(t, []Change{
		{"param $alpha", "param $alpha", []string{"value f32=0.2 -> f32=0.25"}},
		{"buffer @x", "buffer @x", []string{"contents uniform(1, 0, 1) -> uniform(2, 0, 1)"}},
		{"buffer @y", "buffer @y", []string{"type f32 -> f64", "elements 8 -> 16", "role inout -> constant", "contents none -> fill(1)"}},
	}, d.Changed)
	assert.True(t, Of(a, a).Equal())
}

// TestEveryPropertyIsCompared changes one part of a program at a time.
func TestEveryPropertyIsCompared(t *testing.T) {
	const program = `graph g {
  module k "k.ptx"
  buffer @x f32[64] managed inout
  buffer @s f32[2] device(0) inout
  buffer @r f32[2] device(0) inout
  %0 = loop until @s[0:4] below 1 max(10) every(2) label("solve") {
    %0 = memset @s u32=0
    %1 = memset @r u32=0
  }
  %1 = branch if @s[0:4] below 1 {
    %0 = memset @s u32=0 label("then")
  } else {
    %0 = memset @r u32=0 label("else")
  }
  %2 = prefetch @x -> device
  %3 = empty cost(1500ns)
  %4 = launch k.one grid(1) block(32) args()
}
-- k.ptx --
.version 7.8
.target sm_70
.address_size 64
.visible .entry one() { ret; }
.visible .entry two() { ret; }
`
	for _, change := range []struct{ old, new, want string }{
		{"every(2)", "every(5)", "{%0 solve %0 solve [every 2 -> 5]}"},
		{"loop until @s[0:4] below", "loop until @s[4:8] below", "condition @s[0:4] below 1 -> @s[4:8] below 1"},
		{"-> device", "-> host", "{%2 prefetch %2 prefetch [to the device true -> false]}"},
		{"1500ns", "2500ns", "{%3 empty %3 empty [cost 1500 ns -> 2500 ns]}"},
		{" cost(1500ns)", "", "{%3 empty %3 empty [cost 1500 ns -> none]}"},
		{"%1 = memset @r u32=0", "%1 = memset @r u32=1", "{%0/%1 solve/memset %0/%1 solve/memset [value u32=0 -> u32=1]}"},
		{"  } else {\n    %0", "    %1", "[%1/else/%0 branch/else/else] [%1/%1 branch/else]"},
		{"one() { ret; }", "one() { exit; }", "{%4 one %4 one [code "},
		{"two() { ret; }", "two() { exit; }", ""},
		{".visible .entry one", "// a comment\n.visible .entry one", ""},
	} {
		require.Contains(t, program, change.old)
		d := Of(parse(t, program), parse(t, strings.Replace(program, change.old, change.new, 1)))
		if change.want == "" {
			assert.True(t, d.Equal(), "%s: %v", change.new, d)
			continue
		}
		assert.Contains(t, fmt.Sprint(*d), change.want, change.new)
	}
}

// TestSchedulesDiffer compares plans of one program, in whole and by operation.
func TestSchedulesDiffer(t *testing.T) {
	const program = "graph g {\n  buffer @x u32[8] device(0) temporary\n  %0 = memset @x u32=0\n  %1 = empty\n  %2 = empty after(%0)\n}\n"
	plan := func(text string) *ir.File {
		return parse(t, program+text)
	}
	a := plan("schedule nimble lanes(2) {\n  %0 lane(0)\n  %1 lane(1)\n  %2 lane(1) wait(%0)\n}\n")
	b := plan("schedule serial lanes(1) {\n  %1 lane(0)\n  %0 lane(0)\n  %2 lane(0)\n}\n")
	assert.Equal(t, []Change{
		{"%1 empty", "%1 empty", []string{"lane 1 -> 0"}},
		{"%2 empty", "%2 empty", []string{"lane 1 -> 0", "waits %0 memset -> none"}},
		{"schedule", "schedule", []string{"strategy nimble -> serial", "lanes 2 -> 1", "order from number 0 on: %0 memset -> %1 empty"}},
	}, Of(a, b).Changed)
	assert.True(t, Of(a, a).Equal())
	assert.True(t, Of(a, plan("")).Equal(), "only one of them has a schedule")
}

// TestMatchIsLongest compares the length of the match with the best of all subsequences.
func TestMatchIsLongest(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 1))
		words := func() (all []string) {
			for range r.IntN(9) {
				all = append(all, fmt.Sprint(r.IntN(3)))
			}
			return all
		}
		a, b := words(), words()
		n, last := 0, ir.OpID(-1)
		for u, v := range match(a, b) {
			if v >= 0 {
				n++
				require.Greater(t, v, last)
				require.Equal(t, a[u], b[v])
				last = v
			}
		}
		best := 0
		for set := range 1 << len(a) {
			at, length := 0, 0
			for i := range a {
				if set>>i&1 == 0 {
					continue
				}
				for at < len(b) && b[at] != a[i] {
					at++
				}
				if at == len(b) {
					length = -1
					break
				}
				at, length = at+1, length+1
			}
			best = max(best, length)
		}
		require.Equal(t, best, n, "seed %d", seed)
	}
}
