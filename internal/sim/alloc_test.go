package sim

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/device"
)

// A program that repeats itself allocates nothing: neither by launching kernels
// one by one, nor by graphs or command lists, with the memo or without.
func TestRepetitionAllocatesNothing(t *testing.T) {
	defer Unobserved()()
	for _, memo := range []Memo{MemoOn, MemoOff} {
		r := newUncheckedRig(t, Options{Memo: memo})
		l := r.launchAffine(r.buffers[0], r.buffers[1], 3, 1)
		g, err := r.CreateGraph()
		r.ok(err)
		_, err = r.AddNode(g, nil, l)
		r.ok(err)
		x, err := r.Instantiate(g)
		r.ok(err)
		list, err := r.CompileCommands([]device.Command{{Kind: device.Run, Stream: r.streams[0], Work: l}})
		r.ok(err)
		ways := map[string]func() error{
			"Submit":         func() error { return r.Submit(r.streams[0], l) },
			"LaunchGraph":    func() error { return r.LaunchGraph(x, r.streams[0]) },
			"SubmitCommands": func() error { return r.SubmitCommands(list, 0, 1) },
		}
		for name, way := range ways {
			again := func() {
				r.ok(way())
				r.ok(r.Synchronize(r.streams[0]))
			}
			allocs := 1.0
			for i := 0; i < 20 && allocs > 0; i++ {
				allocs = testing.AllocsPerRun(20, again)
			}
			require.Zero(t, allocs, "%s, memo %d", name, memo)
		}
	}
}

// Unobserved ends the check of all launches, which allocates and takes time,
// until what it returns is called.
func Unobserved() (resume func()) {
	observe = nil
	return func() { observe = foretold.check }
}
