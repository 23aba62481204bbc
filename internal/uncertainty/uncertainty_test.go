package uncertainty

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/reprise-gpu/reprise/device/model"
	"github.com/reprise-gpu/reprise/internal/des"
	"github.com/reprise-gpu/reprise/internal/profiles"
)

func lookup(t *testing.T, id string) *model.Profile {
	p, err := profiles.Lookup(id)
	assert.NoError(t, err)
	return p
}

// Every limit of the time line has a class with an error, or needs none.
func TestEveryLimitHasAnError(t *testing.T) {
	for _, id := range []string{"h200", "a40"} {
		p := lookup(t, id)
		for l := range des.Synchronize + 1 {
			u := Of([]Share{{l.String(), 1000}}, p)
			if given[l.String()] {
				assert.Zero(t, u, l)
				continue
			}
			assert.Greater(t, u, 0.0, l)
			assert.Less(t, u, 1.0, l)
		}
	}
	for name := range classes {
		assert.Contains(t, names(), name)
	}
	for name := range given {
		assert.Contains(t, names(), name)
	}
}

func names() (list []string) {
	for l := range des.Synchronize + 1 {
		list = append(list, l.String())
	}
	return list
}

// The uncertainty of a sum lies between those of its parts.
func TestUncertaintiesAreWeighted(t *testing.T) {
	p := lookup(t, "h200")
	memory, waiting := Of([]Share{{"DRAM bandwidth", 5}}, p), Of([]Share{{"latency", 5}}, p)
	assert.InDelta(t, (memory+waiting)/2, Of([]Share{{"DRAM bandwidth", 7}, {"latency", 7}}, p), 1e-12)
	assert.InDelta(t, memory/2, Of([]Share{{"DRAM bandwidth", 7}, {"link in", 7}}, p), 1e-12)
	assert.Zero(t, Of(nil, p))
	assert.NotEqual(t, waiting, Of([]Share{{"latency", 5}}, lookup(t, "a40")), "another kind of device")
	assert.Equal(t, "± 8 %", Format(0.081))
}
