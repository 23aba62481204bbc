//go:build cuda && cgo

package simabi

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestAdviceIsPerByte compares advice on random ranges with a model: an array with an element for each byte.
func TestAdviceIsPerByte(t *testing.T) {
	const size, rounds = 40, 2000
	rng := rand.New(rand.NewPCG(1, 1))
	var list advices
	var bytes [2][size]advice
	for range rounds {
		lo := rng.IntN(size)
		hi := lo + 1 + rng.IntN(size-lo)
		topic := adviceTopic(rng.IntN(2))
		if rng.IntN(2) == 0 {
			a := advice{lo: uint64(lo), hi: uint64(hi), topic: topic, device: rng.IntN(2), set: rng.IntN(4) > 0}
			if !a.set {
				a.device = 0
			}
			list.set(a)
			for i := lo; i < hi; i++ {
				bytes[topic][i] = a
			}
			continue
		}
		first, same := bytes[topic][lo], true
		for _, a := range bytes[topic][lo:hi] {
			same = same && a.set == first.set && a.device == first.device
		}
		dev, ok := list.uniform(uint64(lo), uint64(hi), topic)
		require.Equal(t, same && first.set, ok)
		if ok {
			require.Equal(t, first.device, dev)
		}
	}
	require.Less(t, len(list), 2*size, "what later advice covers is forgotten")
}
