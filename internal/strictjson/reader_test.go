package strictjson_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/reprise-gpu/reprise/internal/strictjson"
)

// parse reads {"on": bool, "list": [number, ...], "name": text}; on and list are required.
func parse(text string) (on bool, sum int64, err error) {
	r := strictjson.NewReader([]byte(text), "the example")
	err = r.Object("it", func(name string) error {
		switch name {
		case "on":
			return r.Bool("on", &on)
		case "list":
			return r.List("list", func(i int) error {
				var n json.Number
				err := r.Number("an element", &n)
				v, _ := n.Int64()
				sum += v * int64(i)
				return err
			})
		}
		var s string
		return r.Text(name, &s)
	}, "on", "list")
	if err == nil {
		err = r.End("file")
	}
	return on, sum, r.Locate("f", err)
}

func TestReader(t *testing.T) {
	on, sum, err := parse(`{"name": "x", "on": true, "list": [5, 6, 7]}`)
	assert.NoError(t, err)
	assert.True(t, on)
	assert.EqualValues(t, 6+14, sum)
	for text, want := range map[string]string{
		``:                               "f:1: not JSON: the text ends too early",
		"{\n\"on\": ,":                   "f:2: not JSON: invalid character ','",
		"{\"on\": 1":                     "f:1: on is 1; it must be true or false",
		"{\"list\": 1":                   "list is 1; it must be a list, [...]",
		"{\"list\": [\n1,\n\"2\"]":       "f:3: an element is 2; it must be a number without quotes",
		"{\"name\": null":                "name is <nil>; it must be a text in quotes",
		"[]":                             "it is [; it must be an object, {...}",
		"{\"on\": true}":                 `it has no "list"; add it, as in the example`,
		"{\"on\": true, \"on\": true}":   `it has "on" twice; remove one`,
		"{\"on\": true, \"list\": []} 5": "there is text after the end of the file; remove it",
		"{\"on\": true, \"list\": [1":    "the text ends too early",
	} {
		_, _, err := parse(text)
		assert.ErrorContains(t, err, want, text)
	}
}
