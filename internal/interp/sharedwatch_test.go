package interp

import (
	"fmt"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/require"
)

// TestSharedRaces runs testdata/race/*: "race" launches a body of the test programs,
// which has 256 bytes of shared memory at %sh and a word of it at %my, and prints
// the hazards.
func TestSharedRaces(t *testing.T) {
	datadriven.Walk(t, "testdata/race", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, td *datadriven.TestData) string {
			l := Launch{Grid: dims(1, 1, 1), Block: dims(64, 1, 1), Record: &Record{Races: true}}
			td.MaybeScanArgs(t, "grid", &l.Grid[0])
			td.MaybeScanArgs(t, "block", &l.Block[0])
			d := open(t, "main.ptx", programHeader+programEntry+`
.shared .align 16 .b8 tile[256];
.reg .b32 %sh, %my, %lane, %warp;
mov.u32 %sh, tile; shl.b32 %my, %tid, 2; add.s32 %my, %my, %sh; and.b32 %lane, %tid, 31; shr.u32 %warp, %tid, 5;
`+td.Input+"\n}\n")
			out := buffer(d, "out", make([]uint32, 64))
			l.Params = params(out, buffer(d, "in", make([]byte, 256)), uint64(0), uint32(0), uint32(0))
			for range 2 { // the second time in memory used before
				d.run("main", l)
			}
			s := ""
			for _, h := range l.Record.Hazards {
				s += describe(d.kernel("main"), h)
			}
			if s == "" {
				return "ok\n"
			}
			return s
		})
	})
}

// A kernel is launched with fewer threads than before: all warps of the first
// launch loaded the first word, which the second launch stores only after it
// loaded others.
func TestSharedRacesWithFewerWarps(t *testing.T) {
	d := open(t, "main.ptx", programHeader+programEntry+`
.shared .align 16 .b8 tile[8192];
.reg .b32 %sh, %my;
mov.u32 %sh, tile; shl.b32 %my, %tid, 2; add.s32 %my, %my, %sh;
st.shared.u32 [%my+64], %tid;
bar.sync 0;
ld.shared.u32 %r1, [%my+64];
setp.eq.u32 %p1, %tid, 0;
@%p1 st.shared.u32 [%sh], %r1;
bar.sync 0;
ld.shared.u32 %r2, [%sh];
}
`)
	l := Launch{Grid: dims(1, 1, 1), Record: &Record{Races: true}}
	l.Params = params(buffer(d, "out", make([]uint32, 64)), buffer(d, "in", make([]byte, 256)), uint64(0), uint32(0), uint32(0))
	for _, threads := range []uint32{1024, 32, 128, 64, 1024} {
		l.Block = dims(threads, 1, 1)
		d.run("main", l)
		require.Empty(t, l.Record.Hazards, "%d threads", threads)
	}
}

// firstBodyLine is that of a body's first line in the module: errors count from there.
const firstBodyLine = 13

func describe(k *Kernel, h Hazard) string {
	line := func(i int) int { return k.Place(i).Line - firstBodyLine + 1 }
	verb := map[bool]string{false: "loads", true: "stores"}
	switch h.Kind {
	case SharedRace:
		return fmt.Sprintf("block %v: thread %d %s in line %d, thread %d %s in line %d, %d bytes at %d\n", h.Block[0],
			h.OtherThread[0], verb[h.OtherStores], line(h.Other), h.Thread[0], verb[h.Stores], line(h.Inst), h.Bytes, h.Address)
	case UndefinedShuffle:
		return fmt.Sprintf("block %v: thread %d reads lane %d in line %d, which takes no part\n", h.Block[0], h.Thread[0], h.Lane, line(h.Inst))
	case UninitialisedShared:
		return fmt.Sprintf("block %v: thread %d loads %d bytes at %d in line %d, uninitialised\n", h.Block[0], h.Thread[0], h.Bytes, h.Address, line(h.Inst))
	}
	return fmt.Sprint(h)
}
