package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// relaxing is a program with a loop, a branch and a host call.
const relaxing = `graph relaxing {
  module k "k.ptx"
  buffer @x f32[64] device(0) inout
  buffer @ended f32[1] device(0) output
  buffer @seen f32[64] pinned output
  %0 = memset @ended u32=0
  %1 = loop until @ended[0:4] atleast 1 max(3) label("relax") {
    %0 = launch k.clear grid(2) block(32) args(@x) uses(write @x) label("step")
    %1 = memset @ended u32=0
  }
  %2 = branch if @ended[0:4] below 1 label("more") {
    %0 = launch k.clear grid(1) block(64) args(@x) uses(write @x)
  }
  %3 = copy @x -> @seen
  %4 = host "look" uses(read @seen)
}
-- k.ptx --
.version 7.8
.target sm_70
.address_size 64
.visible .entry clear(.param .u64 x)
{
	.reg .b32 %r<5>;
	.reg .b64 %rd<5>;
	ld.param.u64 %rd1, [x];
	cvta.to.global.u64 %rd2, %rd1;
	mov.u32 %r1, %ctaid.x;
	mov.u32 %r2, %ntid.x;
	mov.u32 %r3, %tid.x;
	mad.lo.s32 %r4, %r1, %r2, %r3;
	mul.wide.s32 %rd3, %r4, 4;
	add.s64 %rd4, %rd2, %rd3;
	st.global.u32 [%rd4], 0;
	ret;
}
`

// TestLoopsAndBranchesGoThroughCommands runs a program with loops and branches. A command that cannot take it says so, with the
// label of the loop or with the reason.
func TestLoopsAndBranchesGoThroughCommands(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "relaxing.rir")
	require.NoError(t, os.WriteFile(file, []byte(relaxing), 0o600))
	for _, u := range []usage{
		{"kernel profile $F", []string{"clear     3     2     32", "clear     1     1     64"}},
		{"compare $F", []string{"without the rows of rename", "nimble/graph unroll(4)"}},
		{"bench $F --iterations 2", []string{"nimble     graph    5"}},
		{"timeline $F -o $DIR/out.json", []string{`"step [3]"`, `"relax/ lane 0"`, `"operation":"%2/%0"`}},
		{"diff $F $F", []string{"predicted replay"}},
	} {
		text, status := outcome(t, dir, strings.NewReplacer("$F", file, "$DIR", dir).Replace(u.args))
		require.Zero(t, status, "%s: %s", u.args, text)
		for _, part := range u.want {
			assert.True(t, strings.Contains(text, part), "%s lacks %s", u.args, part)
		}
	}
	for _, u := range []usage{
		{"compare $F --also unroll(4),rename(4)", []string{"cannot replace buffers in the bodies of loops and branches"}},
		{"explain $F --cost $DIR/out.json", []string{"the operations of programs with loops or branches are not measured: leave --cost out"}},
		{"measure $F -o $DIR/out.json", []string{"relax is a loop: loops and branches are not measured"}},
		{"share --high $F --low $F --policy fill --requests 3", []string{"loops and branches are not shared"}},
		{"tenants --program $F --tenants 2 --rounds 2 --sample 1 --mode branches", []string{"operation relax: a loop cannot run for several tenants"}},
	} {
		text, status := outcome(t, dir, strings.NewReplacer("$F", file, "$DIR", dir).Replace(u.args))
		assert.Equal(t, 1, status, u.args)
		assert.Contains(t, text, u.want[0])
		assert.NoFileExists(t, filepath.Join(dir, "out.json"), u.args)
	}
}

// TestBuffersAreNotStandardStreams refuses - as the file of a buffer, for which a file of that name would be read or written.
func TestBuffersAreNotStandardStreams(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "relaxing.rir")
	require.NoError(t, os.WriteFile(file, []byte(relaxing), 0o600))
	t.Chdir(dir)
	for _, flag := range []string{"--in", "--out"} {
		_, stderr, status := reprise("run", file, flag, "x=-")
		assert.Equal(t, 2, status)
		assert.Contains(t, stderr, flag+" x=-: standard input and output hold no buffer: name a file")
	}
	assert.NoFileExists(t, "-")
}
