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
		by                         string
		why                        string
	}{
		{256, 0, 0, 8, byThreads, "2048 threads"},
		{1024, 32, 0, 2, byThreads, "2048 threads, all registers"},
		{32, 16, 0, 32, byBlocks, "32 blocks"},
		{33, 16, 0, 32, byThreads, "two warps each: 64 warps"},
		{96, 16, 0, 21, byThreads, "64 warps / 3"},
		{256, 64, 0, 4, byRegisters, "64 registers: 32 warps"},
		{256, 65, 0, 3, byRegisters, "65 round up to 72: 28 warps of 32 by scheduler"},
		{1024, 64, 0, 1, byRegisters, "64 registers: 32 warps"},
		{1024, 65, 0, 0, byRegisters, "28 warps hold no block of 32"},
		{128, 32, 48 << 10, 4, byShared, "49 KB of 228 each"},
		{128, 32, 227 << 10, 1, byShared, "the most a block may have"},
		{128, 32, 227<<10 + 1, 0, byShared, "more than a block may have"},
		{1025, 0, 0, 0, byThreads, "too many threads"},
		{0, 0, 0, 0, byThreads, "none"},
	} {
		name := fmt.Sprintf("%d threads, %d registers, %d shared", c.threads, c.registers, c.shared)
		blocks, by := h200.Limits.Occupancy(c.threads, c.registers, c.shared)
		assert.Equal(t, c.want, blocks, "%s: %s", name, c.why)
		assert.Equal(t, c.by, by, "%s: %s", name, c.why)
	}
}

func occupancy(p *Profile, threads, registers, shared int) int {
	blocks, _ := p.Limits.Occupancy(threads, registers, shared)
	return blocks
}

func TestOccupancyWithoutReservedSharedMemory(t *testing.T) {
	assert.Equal(t, 16, occupancy(&v100, 128, 32, 0))
	assert.Equal(t, 2, occupancy(&v100, 128, 32, 48<<10))
	assert.Equal(t, 1, occupancy(&v100, 128, 32, 96<<10))
}

// By hand, with the figures of compute capability 6.0, 7.5 and 5.2.
func TestOccupancyOfOlderDevices(t *testing.T) {
	assert.Equal(t, 25, occupancy(&p100, 64, 40, 0), "1280 registers a warp: 25 warps in each half of the file")
	assert.Equal(t, 24, occupancy(&gtx960, 64, 40, 0), "12 warps in each quarter")
	assert.Equal(t, 16, occupancy(&gtx1660s, 32, 16, 0), "16 blocks")
	assert.Equal(t, 4, occupancy(&gtx1660s, 256, 16, 0), "1024 threads")
	assert.Equal(t, 1, occupancy(&p100, 128, 16, 48<<10), "64 KB of shared memory")
	assert.Equal(t, 2, occupancy(&gtx960, 128, 16, 48<<10), "96 KB")
}
