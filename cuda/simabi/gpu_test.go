//go:build cuda && cgo

package simabi

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSampleIsANumberOfBlocks(t *testing.T) {
	for text, want := range map[string]int64{"": 0, "0": 0, "16": 16} {
		n, err := sampled(text)
		require.NoError(t, err)
		require.Equal(t, want, n)
	}
	for _, text := range []string{"-1", "many", "1.5"} {
		_, err := sampled(text)
		require.EqualError(t, err, "REPRISE_SIM_SAMPLE="+text+": write a number of blocks, 1 or more, or 0 for all")
	}
}
