package model

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

type profiled struct{ p *Profile }

func (d *profiled) Profile() *Profile { return d.p }

func TestOf(t *testing.T) {
	p := &Profile{ID: "v100"}
	assert.Same(t, p, Of(&profiled{p}))
	assert.Nil(t, Of((*profiled)(nil)), "a nil device")
	assert.Nil(t, Of(nil))
	assert.Nil(t, Of(1), "a device without a profile")
}
