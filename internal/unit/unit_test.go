package unit

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestEveryUnitHasAName(t *testing.T) {
	seen := map[string]bool{}
	for u := range Count {
		assert.NotEmpty(t, u.String())
		assert.False(t, seen[u.String()], "%s twice", u)
		seen[u.String()] = true
	}
}

func TestWorkAdds(t *testing.T) {
	var w Work
	w.Add(&Work{FP32: 2, Memory: 1}, 3)
	w.Add(&Work{FP32: 1}, 1)
	assert.Equal(t, Work{FP32: 7, Memory: 3}, w)
	assert.InDelta(t, 10, w.Total(), 0)
}
