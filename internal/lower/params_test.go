package lower_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/lower"
	"github.com/reprise-gpu/reprise/ir"
)

// values has buffer b at 0x1000*b.
type values struct{}

func (values) Address(b ir.BufferID) device.Ptr { return device.Ptr(0x1000 * int(b)) }
func (values) Value(p ir.ParamID) ir.Scalar {
	return ir.Scalar{Type: ir.F64, Bits: 0x0807060504030201 + uint64(p)}
}

func TestParamsAlignsEveryArgumentToItsSize(t *testing.T) {
	assert.Equal(t, []byte{
		0xaa, 0, 0, 0, 0xff, 0xff, 0xff, 0xff,
		0x10, 0x10, 0, 0, 0, 0, 0, 0,
		0xcc, 0xbb, 0, 0, 0, 0, 0, 0,
		2, 2, 3, 4, 5, 6, 7, 8,
	}, lower.Params([]ir.Arg{
		{Kind: ir.ArgScalar, Scalar: ir.Scalar{Type: ir.U8, Bits: 0xaa}},
		{Kind: ir.ArgScalar, Scalar: ir.Scalar{Type: ir.I32, Bits: 0xffffffff}},
		{Kind: ir.ArgBuffer, Buffer: 1, Offset: 0x10},
		{Kind: ir.ArgScalar, Scalar: ir.Scalar{Type: ir.U16, Bits: 0xbbcc}},
		{Kind: ir.ArgParam, Param: 1},
	}, values{}))
}

// The block of arguments that each need the most padding fits what Params reserves.
func TestParamsWithMuchPadding(t *testing.T) {
	var args []ir.Arg
	for range 3 {
		args = append(args, ir.Arg{Kind: ir.ArgScalar, Scalar: ir.Scalar{Type: ir.U8, Bits: 1}}, ir.Arg{Kind: ir.ArgScalar, Scalar: ir.Scalar{Type: ir.U64, Bits: 2}})
	}
	assert.Len(t, lower.Params(args, values{}), 48)
	assert.Empty(t, lower.Params(nil, values{}))
}
