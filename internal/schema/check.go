package schema

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
)

// Parse reads a schema that Text has written.
func Parse(text []byte) (*Schema, error) {
	s := &Schema{}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	return s, d.Decode(s)
}

// Check returns an error that names the first place at which a JSON text does not conform to the schema.
func (s *Schema) Check(text []byte) error {
	var v any
	if err := json.Unmarshal(text, &v); err != nil {
		return err
	}
	return s.check("$", v, s.Defs)
}

func (s *Schema) check(at string, v any, defs map[string]*Schema) error {
	if name, ok := strings.CutPrefix(s.Ref, "#/$defs/"); ok {
		if s = defs[name]; s == nil {
			return fmt.Errorf("%s: the schema has no definition %s", at, name)
		}
	}
	if !s.allows(v) {
		return fmt.Errorf("%s is %s, and the schema requires %v", at, kind(v), s.Type)
	}
	switch v := v.(type) {
	case []any:
		for i, item := range v {
			if s.Items != nil {
				if err := s.Items.check(fmt.Sprintf("%s[%d]", at, i), item, defs); err != nil {
					return err
				}
			}
		}
	case map[string]any:
		return s.checkObject(at, v, defs)
	}
	return nil
}

func (s *Schema) checkObject(at string, v map[string]any, defs map[string]*Schema) error {
	for _, name := range s.Required {
		if _, ok := v[name]; !ok {
			return fmt.Errorf("%s has no %q, which the schema requires", at, name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(v)) {
		of := s.Properties[name]
		if of == nil {
			switch values := s.Values.(type) {
			case *Schema:
				of = values
			case map[string]any: // of a schema that was parsed
				data, err := json.Marshal(values)
				if err != nil {
					return err
				}
				if of, err = Parse(data); err != nil {
					return err
				}
			case bool:
				return fmt.Errorf("%s has %q, which the schema does not have", at, name)
			default:
				continue
			}
		}
		if err := of.check(at+"."+name, v[name], defs); err != nil {
			return err
		}
	}
	return nil
}

// allows reports whether the type of a value is one of those of the schema.
func (s *Schema) allows(v any) bool {
	var names []string
	switch t := s.Type.(type) {
	case nil:
		return true
	case string:
		names = []string{t}
	case []string:
		names = t
	case []any: // of a schema that was parsed
		for _, name := range t {
			names = append(names, fmt.Sprint(name))
		}
	}
	is := kind(v)
	return slices.Contains(names, is) || is == "integer" && slices.Contains(names, "number")
}

// kind returns the JSON type of a value.
func kind(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case string:
		return "string"
	case float64:
		if v == math.Trunc(v) {
			return "integer"
		}
		return "number"
	case []any:
		return "array"
	}
	return "object"
}
