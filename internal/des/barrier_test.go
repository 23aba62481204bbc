package des

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestPresent(t *testing.T) {
	for _, c := range []struct {
		blocks     uint64
		perSM, sms int
		want       int
	}{
		{1, 8, 132, 1}, {132, 8, 132, 1}, {133, 8, 132, 2}, {132 * 8, 8, 132, 8}, {1 << 40, 8, 132, 8}, {1, 1, 1, 1}, {5, 3, 2, 3},
	} {
		assert.Equal(t, c.want, Present(c.blocks, c.perSM, c.sms), "%+v", c)
	}
}
