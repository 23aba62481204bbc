package optimizer

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestUnknownNamesAreAnsweredWithKnownOnes(t *testing.T) {
	known := []Description{describe("hazards", "", ""), describe("reduce", "", "")}
	assert.EqualError(t, unknown("pass", "redcue", known), `unknown pass "redcue" (did you mean "reduce"?); there are hazards, reduce`)
	assert.EqualError(t, unknown("pass", "x", known), `unknown pass "x"; there are hazards, reduce`)
	assert.EqualError(t, unknown("pass", "", known), `unknown pass ""; there are hazards, reduce`)
}
