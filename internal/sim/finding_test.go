package sim

import (
	"errors"
	"regexp"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/device"
)

const sharedKernels = `.version 7.8
.target sm_75
.address_size 64
.file 1 "tile.cu"
.visible .entry vectors(.param .u64 x)
{
	.reg .b64 %rd<3>; .reg .f32 %f<5>;
	ld.param.u64 %rd1, [x];
	ld.global.v4.f32 {%f1,%f2,%f3,%f4}, [%rd1];
	ret;
}
.visible .entry swap(.param .u64 x)
{
	.reg .b32 %r<6>;
	.shared .align 4 .b8 tile[256];
	mov.u32 %r1, %tid.x; shl.b32 %r2, %r1, 2; mov.u32 %r3, tile; add.s32 %r4, %r2, %r3;
	.loc 1 4 5
	st.shared.u32 [%r4], %r1;
	bar.sync 0;
	xor.b32 %r2, %r2, 128; add.s32 %r4, %r2, %r3;
	.loc 1 6 9
	ld.shared.u32 %r5, [%r4];
	st.shared.u32 [%r4], %r5;
	.loc 1 7 9
	st.shared.u32 [tile], %r1;
	ret;
}
.visible .entry exchange(.param .u64 x)
{
	.reg .b64 %rd<2>; .reg .b32 %r<4>;
	ld.param.u64 %rd1, [x];
	atom.global.exch.b32 %r3, [%rd1], 1;
	ld.global.u32 %r1, [%rd1];
	atom.global.exch.b32 %r2, [%rd1+4], %r1;
	st.global.u32 [%rd1], %r2;
	ret;
}
.visible .entry count(.param .u64 x)
{
	.reg .b64 %rd<2>;
	ld.param.u64 %rd1, [x];
	red.global.add.u32 [%rd1], 1;
	ret;
}
.visible .entry follow(.param .u64 x)
{
	.reg .b64 %rd<3>; .reg .b32 %r<3>; .reg .pred %p;
	ld.param.u64 %rd1, [x];
	mov.u32 %r1, %ctaid.x; setp.eq.u32 %p, %r1, 0;
	mul.wide.u32 %rd2, %r1, 4; add.s64 %rd2, %rd2, %rd1;
	@!%p ld.global.u32 %r1, [%rd2+-4];
	st.global.u32 [%rd2], %r1;
	ret;
}
`

// findingScenarios make mistakes.
var findingScenarios = map[string]func(r *rig){
	// A memset in one stream, a kernel that reads what it fills in another.
	"streams": func(r *rig) {
		r.NameMemory(r.buffers[0], "@image")
		r.ok(r.Submit(r.streams[0], &device.Memset{Dst: r.buffers[0], Width: 4, Count: rigWords, Label: "%1 clear at main.go:10"}))
		l := r.launchAffine(r.buffers[1], r.buffers[0]+400, 2, 1)
		r.params(l, 24, 100)
		l.Label = "%2 scale at main.go:11"
		r.ok(r.Submit(r.streams[1], l))
	},
	// The same, and the second waits for an event recorded too early.
	"early event": func(r *rig) {
		r.ok(r.Record(r.events[0], r.streams[0]))
		r.ok(r.Submit(r.streams[0], &device.Memset{Dst: r.buffers[0], Width: 4, Count: rigWords}))
		r.ok(r.Wait(r.streams[1], r.events[0]))
		r.ok(r.Submit(r.streams[1], &device.Copy{Dst: r.buffers[1], Src: r.buffers[0], Bytes: 4}))
	},
	// Two nodes of a graph without an edge, launched three times: one finding.
	"graph": func(r *rig) {
		g, err := r.CreateGraph()
		r.ok(err)
		r.ok(r.Write(r.buffers[0], make([]byte, 4*rigWords)))
		_, err = r.AddNode(g, nil, r.launchAffine(r.buffers[1], r.buffers[0], 2, 1))
		r.ok(err)
		_, err = r.AddNode(g, nil, r.launchAdd(r.buffers[1], r.buffers[0], r.buffers[0]))
		r.ok(err)
		x, err := r.Instantiate(g)
		r.ok(err)
		for range 3 {
			r.ok(r.LaunchGraph(x, r.streams[0]))
		}
	},
	// A host call reads pinned memory while a copy fills it.
	"host call": func(r *rig) {
		r.ok(r.Write(r.buffers[0], make([]byte, 4*rigWords)))
		r.ok(r.Submit(r.streams[0], &device.Copy{Dst: r.pinned, Src: r.buffers[0], Bytes: 16, Label: "results"}))
		r.ok(r.Submit(r.streams[1], &device.HostCall{Func: func() error { return nil }, Label: "print", Uses: []device.HostUse{{Ptr: r.pinned + 8, Bytes: 4, Read: true}}}))
	},
	// Half of the buffer was written.
	"uninitialised": func(r *rig) {
		r.ok(r.Write(r.buffers[0], make([]byte, 2*rigWords)))
		r.ok(r.Submit(r.streams[0], r.launchAffine(r.buffers[1], r.buffers[0], 2, 1)))
	},
	// A copy of what was never written is no use of it; reading the copy is.
	"copied": func(r *rig) {
		r.ok(r.Submit(r.streams[0], &device.Copy{Dst: r.buffers[1], Src: r.buffers[0], Bytes: 64}))
		r.ok(r.Submit(r.streams[0], r.launchAffine(r.buffers[2], r.buffers[1], 2, 1)))
	},
	// Three of four elements were written.
	"padding": func(r *rig) {
		r.ok(r.Write(r.buffers[0], make([]byte, 12)))
		r.ok(r.Submit(r.streams[0], one(r.function(sharedKernels, "vectors"), r.buffers[0])))
	},
	// Sums are added to what was never zeroed, and in place: that the launch writes it,
	// too, comes later.
	"in place": func(r *rig) {
		r.ok(r.Submit(r.streams[0], r.launchAffine(r.buffers[0], r.buffers[0], 2, 1)))
		r.ok(r.Submit(r.streams[0], one(r.function(sharedKernels, "count"), r.buffers[1])))
	},
	// Each block reads what the one before it wrote, whichever worker runs it.
	"blocks in order": func(r *rig) {
		l := one(r.function(sharedKernels, "follow"), r.buffers[0])
		l.Grid.X = rigWords
		r.ok(r.Submit(r.streams[0], l))
	},
	// An exchange whose result nobody reads is a store; the second one's is read.
	"exchange": func(r *rig) {
		r.ok(r.Submit(r.streams[0], one(r.function(sharedKernels, "exchange"), r.buffers[0])))
	},
	// The host reads back what nothing wrote.
	"download": func(r *rig) {
		r.ok(r.Write(r.buffers[0], make([]byte, 12)))
		r.ok(r.Read(make([]byte, 20), r.buffers[0]))
	},
	// Threads of a block meet in shared memory.
	"shared": func(r *rig) {
		l := one(r.function(sharedKernels, "swap"), r.buffers[0])
		l.Block.X = 64
		r.ok(r.Submit(r.streams[0], l))
	},
}

// params overwrites a 32-bit parameter of a launch.
func (r *rig) params(l *device.Launch, at int, v uint32) {
	for i := range 4 {
		l.Params[at+i] = byte(v >> (8 * i))
	}
}

// firstRegion puts the addresses in a text where they are on the only open device.
func firstRegion(text string) string {
	text = regexp.MustCompile(`0x5[0-3][0-9a-f]([0-9a-f]{9})\b`).ReplaceAllString(text, "0x500$1")
	return regexp.MustCompile(`0x[0-9a-f]{1,2}0(2[0-9a-f]{8})\b`).ReplaceAllString(text, "0x$1")
}

// TestFindings runs the scenarios that testdata/findings names, and prints what the call
// that waits returns, then the findings that no call returns: the warnings.
func TestFindings(t *testing.T) {
	run := map[string]bool{}
	datadriven.RunTest(t, "testdata/findings", func(t *testing.T, td *datadriven.TestData) string {
		r := newRig(t, Options{Race: RaceOn})
		run[td.Input] = true
		findingScenarios[td.Input](r)
		var b strings.Builder
		err := r.SynchronizeAll()
		if race := (*RaceError)(nil); errors.As(err, &race) {
			b.WriteString(race.Error() + "\n")
		} else {
			require.NoError(t, err)
		}
		for _, f := range r.Findings() {
			if f.Warning {
				b.WriteString(f.String() + "\n")
			}
		}
		require.NoError(t, r.SynchronizeAll(), "told once")
		found := r.Findings()
		require.NoError(t, r.Close())
		require.Equal(t, found, r.Findings())
		return firstRegion(b.String())
	})
	for name := range findingScenarios {
		require.True(t, run[name], name)
	}
}

// What no call that waits was asked for is not lost.
func TestCloseReturnsFindings(t *testing.T) {
	r := newRig(t, Options{Race: RaceOn})
	findingScenarios["streams"](r)
	var race *RaceError
	require.ErrorAs(t, r.Close(), &race)
	require.Equal(t, "Close", race.Call)
	require.Len(t, race.Findings, 1)
}

// The memo answers launches, and the findings are the same.
func TestMemorisedLaunchesRaceTheSame(t *testing.T) {
	r := newRig(t, Options{Race: RaceOn})
	r.ok(r.Write(r.buffers[0], make([]byte, 4*rigWords)))
	l := r.launchAffine(r.buffers[1], r.buffers[0], 0, 1)
	for range 5 {
		r.ok(r.Submit(r.streams[0], l))
		r.ok(r.SynchronizeAll())
	}
	require.Positive(t, r.Counters().MemoHits)
	hits := r.Counters().MemoHits
	r.ok(r.Submit(r.streams[0], l))
	r.ok(r.Submit(r.streams[1], &device.Copy{Dst: r.buffers[2], Src: r.buffers[1], Bytes: 8}))
	var race *RaceError
	require.ErrorAs(t, r.SynchronizeAll(), &race)
	require.Equal(t, hits+1, r.Counters().MemoHits)
	require.Len(t, race.Findings, 1)
	require.Contains(t, race.Findings[0].String(), "bytes 0-7 of")

	// The same launch on the same bytes, but copied from memory that was never written.
	fresh, err := r.Alloc(4 * rigWords)
	r.ok(err)
	r.ok(r.Submit(r.streams[0], &device.Copy{Dst: r.buffers[0], Src: fresh, Bytes: 4 * rigWords}))
	r.ok(r.Submit(r.streams[0], l))
	require.ErrorAs(t, r.SynchronizeAll(), &race)
	require.Equal(t, hits+1, r.Counters().MemoHits)
	require.Equal(t, UninitialisedRead, race.Findings[0].Kind)
}
