package des

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/device/model"
	"github.com/reprise-gpu/reprise/internal/profiles"
)

// TestEveryProfileEndsEveryTask runs tasks of every kind, huge ones too, on profiles of figures at and near their bounds.
func TestEveryProfileEndsEveryTask(t *testing.T) {
	r := rand.New(rand.NewPCG(17, 3))
	for range 400 {
		p := anH200(t)
		for _, f := range profiles.Figures() {
			if r.IntN(4) > 0 {
				continue
			}
			v := []float64{f.Least, f.Most, leastPositive, 1, f.Least + 1}[r.IntN(5)]
			_ = f.Set(&p, v) // or it stays as it is
		}
		starts := 0
		e := New(&p, func(_ TaskID, data any) model.Demand {
			starts++
			return data.(model.Demand)
		})
		var last []TaskID
		const tasks = 12
		for i := range tasks {
			d := model.Demand{Kind: []model.DemandKind{model.Kernel, model.CopyIn, model.CopyOut, model.CopyOn, model.Fixed, model.Host, model.Marker}[r.IntN(7)], Bytes: math.Pow(2, float64(r.IntN(49)))}
			if d.Kind == model.Fixed {
				d.Duration = model.Time(r.Int64N(1 << 58))
			}
			if d.Kind == model.Kernel {
				d.Blocks, d.PerSM, d.BlockCycles = math.Pow(2, float64(r.IntN(60))), float64(1+r.IntN(32)), math.Pow(10, float64(r.IntN(12)))
				d.Work[r.IntN(len(d.Work))] = math.Pow(10, float64(r.IntN(19)))
				require.NoError(t, CheckKernel(&d, &p))
			}
			id := e.Add(Task{Data: d, Deps: last})
			if i%3 > 0 {
				last = []TaskID{id}
			} else {
				last = nil
			}
		}
		_, ok := e.TryReach(e.Mark())
		require.True(t, ok, "%+v", p)
		require.Equal(t, tasks, starts)
	}
}

// TestTasksAreKeptForEveryGap compares the time for which ended tasks are kept with the bounds of gaps. A task of the
// longest gap must still find the end of its dependency.
func TestTasksAreKeptForEveryGap(t *testing.T) {
	gaps := 0
	for _, f := range profiles.Figures() {
		if strings.HasSuffix(f.Name, "_gap_ns") {
			gaps++
			require.Less(t, f.Most*float64(model.Nanosecond), float64(retireAfter), f.Name)
		}
	}
	require.Equal(t, 5, gaps)
}

// FuzzProfilesKeepTime runs a kernel and a copy on every profile that can be read.
func FuzzProfilesKeepTime(f *testing.F) {
	f.Add(profiles.NewFile(h200, "here").Text())
	f.Add([]byte(`{"format": "reprise-profile", "version": 1, "figures": {"clock_mhz": {"value": 1}}}`))
	f.Fuzz(func(t *testing.T, src []byte) {
		file, err := profiles.ParseFile("p.json", src)
		if err != nil {
			return
		}
		e := demanding(&file.Profile)
		a := e.Add(Task{Data: model.Demand{Kind: model.Kernel, Blocks: 300, PerSM: 2, BlockCycles: 100, Bytes: 1000}})
		e.Add(Task{Deps: []TaskID{a}, Gap: file.Profile.StreamGap, Data: model.Demand{Kind: model.CopyIn, Bytes: 1 << 20}})
		require.Positive(t, e.Drain())
	})
}

// leastPositive is the least rate or share of a profile but 0.
const leastPositive = 1e-3

var h200 = profiles.All()[0]

func anH200(t *testing.T) model.Profile {
	p, err := profiles.Lookup("h200")
	require.NoError(t, err)
	return *p
}
