package model

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
)

// Expected values are those of NVIDIA's occupancy rules for compute capability
// 9.0, by hand.
func TestOccupancy(t *testing.T) {
	for _, c := range []struct {
		threads, registers, shared int
		want                       int
		by                         Holder
		why                        string
	}{
		{256, 0, 0, 8, Threads, "2048 threads"},
		{1024, 32, 0, 2, Threads, "2048 threads, all registers"},
		{32, 16, 0, 32, Blocks, "32 blocks"},
		{33, 16, 0, 32, Threads, "two warps each: 64 warps"},
		{96, 16, 0, 21, Threads, "64 warps / 3"},
		{256, 64, 0, 4, Registers, "64 registers: 32 warps"},
		{256, 65, 0, 3, Registers, "65 round up to 72: 28 warps of 32 by scheduler"},
		{1024, 64, 0, 1, Registers, "64 registers: 32 warps"},
		{1024, 65, 0, 0, Registers, "28 warps hold no block of 32"},
		{128, 32, 48 << 10, 4, Shared, "49 KB of 228 each"},
		{128, 32, 227 << 10, 1, Shared, "the most a block may have"},
		{128, 32, 227<<10 + 1, 0, Shared, "more than a block may have"},
		{1025, 0, 0, 0, Threads, "too many threads"},
		{0, 0, 0, 0, Threads, "none"},
	} {
		name := fmt.Sprintf("%d threads, %d registers, %d shared", c.threads, c.registers, c.shared)
		blocks, by := h200.Limits.Fit(c.threads, c.registers, c.shared)
		assert.Equal(t, c.want, blocks, "%s: %s", name, c.why)
		assert.Equal(t, c.by, by, "%s: %s", name, c.why)
	}
}

func TestOccupancyWithoutReservedSharedMemory(t *testing.T) {
	assert.Equal(t, 16, v100.Limits.Occupancy(128, 32, 0))
	assert.Equal(t, 2, v100.Limits.Occupancy(128, 32, 48<<10))
	assert.Equal(t, 1, v100.Limits.Occupancy(128, 32, 96<<10))
}

// By hand, with the figures of compute capability 6.0, 7.5 and 5.2.
func TestOccupancyOfOlderDevices(t *testing.T) {
	assert.Equal(t, 25, p100.Limits.Occupancy(64, 40, 0), "1280 registers a warp: 25 warps in each half of the file")
	assert.Equal(t, 24, gtx960.Limits.Occupancy(64, 40, 0), "12 warps in each quarter")
	assert.Equal(t, 16, gtx1660s.Limits.Occupancy(32, 16, 0), "16 blocks")
	assert.Equal(t, 4, gtx1660s.Limits.Occupancy(256, 16, 0), "1024 threads")
	assert.Equal(t, 1, p100.Limits.Occupancy(128, 16, 48<<10), "64 KB of shared memory")
	assert.Equal(t, 2, gtx960.Limits.Occupancy(128, 16, 48<<10), "96 KB")
}
