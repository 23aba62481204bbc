// Package schema makes JSON schemas of Go types, and checks JSON against them. It covers what the records of the commands need
// of JSON Schema (draft 2020-12): types, properties, required properties, items and values of maps.
package schema

import (
	"encoding"
	"encoding/json"
	"reflect"
	"strings"
)

// Schema is a JSON schema. The zero value allows everything.
type Schema struct {
	Draft      string             `json:"$schema,omitempty"`
	Title      string             `json:"title,omitempty"`
	Type       any                `json:"type,omitempty"` // a name, or several
	Properties map[string]*Schema `json:"properties,omitempty"`
	Required   []string           `json:"required,omitempty"`
	Items      *Schema            `json:"items,omitempty"`
	Values     any                `json:"additionalProperties,omitempty"` // false, or the schema of the values of a map
	Defs       map[string]*Schema `json:"$defs,omitempty"`                // types that contain themselves
	Ref        string             `json:"$ref,omitempty"`
}

const draft = "https://json-schema.org/draft/2020-12/schema"

// Of returns the schema of what encoding/json writes for values of a type.
func Of(title string, t reflect.Type) *Schema {
	m := maker{open: map[reflect.Type]bool{}, defs: map[string]*Schema{}}
	s := *m.of(t)
	s.Draft, s.Title = draft, title
	if len(m.defs) > 0 {
		s.Defs = m.defs
	}
	return &s
}

// Text returns a schema as a file.
func (s *Schema) Text() string {
	data, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		panic("BUG: " + err.Error())
	}
	return string(data) + "\n"
}

// maker makes the schemas of types.
type maker struct {
	open map[reflect.Type]bool // structs around the present type
	defs map[string]*Schema
}

var (
	marshaler     = reflect.TypeFor[json.Marshaler]()
	textMarshaler = reflect.TypeFor[encoding.TextMarshaler]()
)

func (m *maker) of(t reflect.Type) *Schema {
	switch {
	case t.Implements(marshaler):
		return &Schema{}
	case t.Implements(textMarshaler):
		return &Schema{Type: "string"}
	}
	switch t.Kind() {
	case reflect.Bool:
		return &Schema{Type: "boolean"}
	case reflect.String:
		return &Schema{Type: "string"}
	case reflect.Float32, reflect.Float64:
		return &Schema{Type: "number"}
	case reflect.Pointer:
		return m.nullable(m.of(t.Elem()))
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return &Schema{Type: []string{"string", "null"}} // base64
		}
		return &Schema{Type: []string{"array", "null"}, Items: m.of(t.Elem())}
	case reflect.Array:
		return &Schema{Type: "array", Items: m.of(t.Elem())}
	case reflect.Map:
		return &Schema{Type: []string{"object", "null"}, Values: m.of(t.Elem())}
	case reflect.Struct:
		return m.ofStruct(t)
	case reflect.Interface:
		return &Schema{}
	}
	return &Schema{Type: "integer"}
}

// nullable returns a schema that also allows null.
func (m *maker) nullable(s *Schema) *Schema {
	if name, ok := s.Type.(string); ok {
		c := *s
		c.Type = []string{name, "null"}
		return &c
	}
	return s
}

func (m *maker) ofStruct(t reflect.Type) *Schema {
	name := t.Name()
	if m.open[t] {
		m.defs[name] = nil // set when the struct is complete
		return &Schema{Ref: "#/$defs/" + name}
	}
	m.open[t] = true
	s := &Schema{Type: "object", Properties: map[string]*Schema{}, Values: false}
	m.fields(s, t)
	delete(m.open, t)
	if _, recursive := m.defs[name]; recursive && name != "" {
		m.defs[name] = s
	}
	return s
}

// fields adds the fields of a struct, and those of structs embedded in it.
func (m *maker) fields(s *Schema, t reflect.Type) {
	for i := range t.NumField() {
		f := t.Field(i)
		tag, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		embedded := f.Type
		if f.Anonymous && embedded.Kind() == reflect.Pointer {
			embedded = embedded.Elem()
		}
		switch {
		case tag == "-" || !f.IsExported() && !f.Anonymous:
			continue
		case f.Anonymous && tag == "" && embedded.Kind() == reflect.Struct:
			m.fields(s, embedded)
			continue
		case !f.IsExported():
			continue
		case tag == "":
			tag = f.Name
		}
		s.Properties[tag] = m.of(f.Type)
		if !strings.Contains(options, "omitempty") && !strings.Contains(options, "omitzero") {
			s.Required = append(s.Required, tag)
		}
	}
}
