package schema_test

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/internal/schema"
)

type inner struct {
	N    int      `json:"n"`
	Next *inner   `json:"next,omitempty"`
	Tags []string `json:"tags"`
}

type outer struct {
	inner
	Name   string             `json:"name"`
	US     float64            `json:"us,omitempty"`
	OK     bool               `json:"ok"`
	Sizes  map[string]float64 `json:"sizes"`
	At     [2]int             `json:"at"`
	Hidden int                `json:"-"`
	own    int
}

// What encoding/json writes for a type conforms to its schema, also after the schema was stored.
func TestValuesConform(t *testing.T) {
	made := schema.Of("outer", reflect.TypeFor[[]outer]())
	stored, err := schema.Parse([]byte(made.Text()))
	require.NoError(t, err)
	for _, v := range []any{
		[]outer(nil), []outer{{}},
		[]outer{{inner: inner{N: 1, Next: &inner{N: 2, Next: &inner{}}, Tags: []string{"a"}}, Name: "x", US: 0.5, OK: true, Sizes: map[string]float64{"a": 1.5}, own: 1}},
	} {
		text, err := json.Marshal(v)
		require.NoError(t, err)
		assert.NoError(t, made.Check(text))
		assert.NoError(t, stored.Check(text))
	}
}

func TestMistakesAreFound(t *testing.T) {
	s := schema.Of("outer", reflect.TypeFor[outer]())
	const good = `{"n": 1, "tags": [], "name": "x", "ok": true, "sizes": {"a": 1}, "at": [1, 2]}`
	require.NoError(t, s.Check([]byte(good)))
	for text, want := range map[string]string{
		`{"tags": [], "name": "x", "ok": true, "sizes": {}, "at": [1, 2]}`:                                                       `$ has no "n", which the schema requires`,
		`{"n": 1.5, "tags": [], "name": "x", "ok": true, "sizes": {}, "at": []}`:                                                 `$.n is number, and the schema requires integer`,
		`{"n": 1, "tags": [2], "name": "x", "ok": true, "sizes": {}, "at": []}`:                                                  `$.tags[0] is integer, and the schema requires string`,
		`{"n": 1, "tags": [], "name": "x", "ok": true, "sizes": {"a": "b"}, "at": []}`:                                           `$.sizes.a is string, and the schema requires number`,
		`{"n": 1, "tags": [], "name": "x", "ok": true, "sizes": {}, "at": [], "more": 1}`:                                        `$ has "more", which the schema does not have`,
		`{"n": 1, "next": {"n": 2, "tags": null, "next": {}}, "tags": [], "name": "x", "ok": true, "sizes": {"a": 1}, "at": []}`: `$.next.next has no "n", which the schema requires`,
	} {
		assert.EqualError(t, s.Check([]byte(text)), want)
	}
	assert.Error(t, s.Check([]byte(`{`)))
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(schema.Of("outer", reflect.TypeFor[outer]()).Text()), []byte(`{"n": 1}`))
	f.Fuzz(func(_ *testing.T, text, value []byte) {
		if s, err := schema.Parse(text); err == nil {
			_ = s.Check(value)
		}
	})
}
