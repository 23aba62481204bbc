package ir_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/reprise-gpu/reprise/ir"
)

func TestLookUpByName(t *testing.T) {
	g := &ir.Graph{Buffers: []ir.Buffer{{Name: "x"}, {Name: "y"}}, Params: []ir.Param{{Name: "n"}, {Name: "m"}}}
	b, ok := g.BufferByName("y")
	assert.True(t, ok)
	assert.Equal(t, ir.BufferID(1), b)
	_, ok = g.BufferByName("m")
	assert.False(t, ok)
	p, ok := g.ParamByName("m")
	assert.True(t, ok)
	assert.Equal(t, ir.ParamID(1), p)
	_, ok = g.ParamByName("y")
	assert.False(t, ok)
}
