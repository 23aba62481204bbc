package phrase_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/reprise-gpu/reprise/internal/phrase"
)

func TestNearest(t *testing.T) {
	words := []string{"hazards", "reduce", "read", "real"}
	for wrong, want := range map[string]string{
		"redcue": "reduce", "reduce": "reduce", "raed": "read", "rea": "read", "hazard": "hazards",
		"": "", "x": "", "assignment": "",
	} {
		assert.Equal(t, want, phrase.Nearest(wrong, words), "%q", wrong)
	}
}
