package optimizer

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestUnknownNamesAreAnsweredWithKnownOnes(t *testing.T) {
	known := []Description{{Name: "hazards"}, {Name: "reduce"}}
	assert.EqualError(t, unknown("pass", "redcue", known), `unknown pass "redcue" (did you mean "reduce"?); there are hazards, reduce`)
	assert.EqualError(t, unknown("pass", "x", known), `unknown pass "x"; there are hazards, reduce`)
	assert.EqualError(t, unknown("pass", "", known), `unknown pass ""; there are hazards, reduce`)
}

func TestEditDistance(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"", "abc", 3}, {"abc", "", 3}, {"kitten", "sitting", 3}, {"reduce", "redcue", 2}, {"a", "a", 0}} {
		assert.Equal(t, c.want, editDistance(c.a, c.b), "%q to %q", c.a, c.b)
	}
}
