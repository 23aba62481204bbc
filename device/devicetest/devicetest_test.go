package devicetest

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestNamesAreUnique(t *testing.T) {
	seen := map[string]bool{}
	for _, name := range Names() {
		assert.False(t, seen[name], name)
		seen[name] = true
	}
}
