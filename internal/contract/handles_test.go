package contract

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/reprise-gpu/reprise/device"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestHandlesAreThoseOfAMap adds and removes at random and looks everything up.
func TestHandlesAreThoseOfAMap(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	h := Handles[device.Stream, int]{Kind: "stream"}
	live, last := map[device.Stream]int{}, device.Stream(0)
	for step := range 3000 {
		adding := r.IntN(100) < []int{70, 30}[step/500%2] // grows and shrinks in turn
		if adding || last == 0 {
			last++
			require.Equal(t, last, h.Add(step), "no handle comes twice")
			live[last] = step
		} else {
			s := 1 + device.Stream(r.IntN(int(last)+1))
			want, ok := live[s]
			got, err := h.Remove(s)
			require.Equal(t, ok, err == nil)
			require.Equal(t, want, got)
			delete(live, s)
		}
		require.Equal(t, len(live), h.Len())
	}
	var all []device.Stream
	for s := device.Stream(0); s <= last+pageSize+1; s++ {
		want, ok := live[s]
		got, err := h.Get(s)
		require.Equal(t, ok, err == nil, "%d", s)
		require.Equal(t, want, got, "%d", s)
		if ok {
			all = append(all, s)
		}
	}
	assert.True(t, slices.Equal(all, h.All()))
}

func TestHandlesSayWhatIsWrongWithOne(t *testing.T) {
	h := Handles[device.Stream, int]{Kind: "stream"}
	for range 3 * pageSize {
		_, err := h.Remove(h.Add(7))
		require.Nil(t, err)
	}
	for s, want := range map[device.Stream]string{
		0: "stream 0 is the zero handle", 1: "stream 1 has been destroyed",
		3 * pageSize: "stream 192 has been destroyed", 3*pageSize + 1: "stream 193 was never created",
		^device.Stream(0): "stream 18446744073709551615 was never created",
	} {
		_, err := h.Get(s)
		require.NotNil(t, err)
		assert.Equal(t, want, err.Detail)
	}
	for _, p := range h.pages {
		assert.Nil(t, p, "what is dead takes no memory")
	}
}
