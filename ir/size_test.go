package ir_test

import (
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"

	"github.com/reprise-gpu/reprise/ir"
)

// TestAnOpFillsTwoCacheLines bounds the memory of graphs with millions of operations, and the lines that
// passes over them read.
func TestAnOpFillsTwoCacheLines(t *testing.T) {
	const line = 64
	var op ir.Op
	assert.EqualValues(t, 2*line, unsafe.Sizeof(op))
	assert.EqualValues(t, line/2, unsafe.Sizeof(ir.Access{}))
	assert.LessOrEqual(t, unsafe.Offsetof(op.Uses)+unsafe.Sizeof(op.Uses), uintptr(line))
}
