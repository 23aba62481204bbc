package phrase_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/reprise-gpu/reprise/internal/phrase"
)

func TestNumber(t *testing.T) {
	for _, c := range []struct {
		value any
		want  string
	}{
		{7, "7 (int)"}, {uint8(7), "7 (uint8)"}, {float32(0.5), "0.5 (float32)"},
		{"seven", "a value of type string"}, {nil, "a value of type <nil>"},
	} {
		assert.Equal(t, c.want, phrase.Number(c.value))
	}
}
