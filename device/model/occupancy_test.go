package model_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/device/model"
	"github.com/reprise-gpu/reprise/internal/profiles"
)

// Expected values are those of NVIDIA's occupancy rules for compute capability
// 9.0, by hand.
func TestOccupancy(t *testing.T) {
	for _, c := range []struct {
		threads, registers, shared int
		want                       int
		by                         string
		why                        string
	}{
		{256, 0, 0, 8, "threads", "2048 threads"},
		{1024, 32, 0, 2, "threads", "2048 threads, all registers"},
		{32, 16, 0, 32, "blocks", "32 blocks"},
		{33, 16, 0, 32, "threads", "two warps each: 64 warps"},
		{96, 16, 0, 21, "threads", "64 warps / 3"},
		{256, 64, 0, 4, "registers", "64 registers: 32 warps"},
		{256, 65, 0, 3, "registers", "65 round up to 72: 28 warps of 32 by scheduler"},
		{1024, 64, 0, 1, "registers", "64 registers: 32 warps"},
		{1024, 65, 0, 0, "registers", "28 warps hold no block of 32"},
		{128, 32, 48 << 10, 4, "shared memory", "49 KB of 228 each"},
		{128, 32, 227 << 10, 1, "shared memory", "the most a block may have"},
		{128, 32, 227<<10 + 1, 0, "shared memory", "more than a block may have"},
		{1025, 0, 0, 0, "threads", "too many threads"},
		{0, 0, 0, 0, "threads", "none"},
	} {
		name := fmt.Sprintf("%d threads, %d registers, %d shared", c.threads, c.registers, c.shared)
		blocks, by := profileOf(t, "h200").Limits.Occupancy(c.threads, c.registers, c.shared)
		assert.Equal(t, c.want, blocks, "%s: %s", name, c.why)
		assert.Equal(t, c.by, by, "%s: %s", name, c.why)
	}
}

func profileOf(t *testing.T, id string) *model.Profile {
	p, err := profiles.Lookup(id)
	require.NoError(t, err)
	return p
}

func occupancy(t *testing.T, id string, threads, registers, shared int) int {
	blocks, _ := profileOf(t, id).Limits.Occupancy(threads, registers, shared)
	return blocks
}

func TestOccupancyWithoutReservedSharedMemory(t *testing.T) {
	assert.Equal(t, 16, occupancy(t, "v100", 128, 32, 0))
	assert.Equal(t, 2, occupancy(t, "v100", 128, 32, 48<<10))
	assert.Equal(t, 1, occupancy(t, "v100", 128, 32, 96<<10))
}

// By hand, with the figures of compute capability 6.0, 7.5 and 5.2.
func TestOccupancyOfOlderDevices(t *testing.T) {
	assert.Equal(t, 25, occupancy(t, "p100", 64, 40, 0), "1280 registers a warp: 25 warps in each half of the file")
	assert.Equal(t, 24, occupancy(t, "gtx960", 64, 40, 0), "12 warps in each quarter")
	assert.Equal(t, 16, occupancy(t, "gtx1660s", 32, 16, 0), "16 blocks")
	assert.Equal(t, 4, occupancy(t, "gtx1660s", 256, 16, 0), "1024 threads")
	assert.Equal(t, 1, occupancy(t, "p100", 128, 16, 48<<10), "64 KB of shared memory")
	assert.Equal(t, 2, occupancy(t, "gtx960", 128, 16, 48<<10), "96 KB")
}
