package model

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// No field is left out of the JSON, and every number comes back bit by bit.
func TestDemandsSurviveJSON(t *testing.T) {
	want := Demand{Kind: Kernel, Duration: 7, Memory: true}
	v := reflect.ValueOf(&want).Elem()
	for i := range v.NumField() {
		if f := v.Field(i); f.Kind() == reflect.Float64 {
			f.SetFloat(1.0/3 + float64(i))
		}
	}
	for u := range want.Work {
		want.Work[u] = 1e15 + float64(u)/8
	}
	text, err := json.Marshal(want)
	require.NoError(t, err)
	var got Demand
	require.NoError(t, json.Unmarshal(text, &got))
	assert.Equal(t, want, got)
	for i := range v.NumField() {
		require.False(t, v.Field(i).IsZero(), "the test leaves out %s", v.Type().Field(i).Name)
	}

	text, err = json.Marshal(Demand{Kind: Fixed, Duration: 5})
	require.NoError(t, err)
	assert.JSONEq(t, `{"kind":"fixed","duration_ps":5}`, string(text))
	assert.ErrorContains(t, json.Unmarshal([]byte(`{"kind":"thing"}`), &got), `unknown kind of demand "thing"`)
	assert.ErrorContains(t, json.Unmarshal([]byte(`{"warp_instructions":{"fp8":1}}`), &got), `there is no unit "fp8": the units are fp32, fp64`)
}
