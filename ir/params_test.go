package ir

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestParamBlockAlignsEveryArgumentToItsSize(t *testing.T) {
	g := &Graph{Params: []Param{{Name: "n", Value: Scalar{F64, 0x0807060504030201}}}}
	l := &Launch{Args: []Arg{
		{Kind: ArgScalar, Scalar: Scalar{U8, 0xaa}},
		{Kind: ArgScalar, Scalar: Scalar{I32, 0xffffffff}},
		{Kind: ArgBuffer, Buffer: 1, Offset: 0x10},
		{Kind: ArgScalar, Scalar: Scalar{U16, 0xbbcc}},
		{Kind: ArgParam, Param: 0},
	}}
	block, offsets := g.ParamBlock(l, func(b BufferID) uint64 { return 0x1000 * uint64(b) })
	assert.Equal(t, []int{0, 4, 8, 16, 24}, offsets)
	assert.Equal(t, []byte{
		0xaa, 0, 0, 0, 0xff, 0xff, 0xff, 0xff,
		0x10, 0x10, 0, 0, 0, 0, 0, 0,
		0xcc, 0xbb, 0, 0, 0, 0, 0, 0,
		1, 2, 3, 4, 5, 6, 7, 8,
	}, block)
}
