package dense

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestTailsAreWhereEdgesBegin(t *testing.T) {
	assert.Equal(t, []bool{true, false, true, false}, Tails([][]int32{nil, {0}, nil, {0, 2}}))
	assert.Empty(t, Tails[int32](nil))
}
