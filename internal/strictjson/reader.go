// Package strictjson reads JSON files token by token. Decoding whole values would accept duplicate names, and its errors
// would lack line numbers.
package strictjson

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// Reader reads the values of a text in order.
type Reader struct {
	src     []byte
	dec     *json.Decoder
	example string
}

// NewReader returns a reader of a text. Errors for absent fields refer to the example, such as "the output of reprise
// profile h200".
func NewReader(src []byte, example string) *Reader {
	r := &Reader{src: src, dec: json.NewDecoder(bytes.NewReader(src)), example: example}
	r.dec.UseNumber()
	return r
}

// Object reads an object and calls field to read the value of each of its fields. The fields must be distinct, and those
// of want must be present. Errors name the object by what.
func (r *Reader) Object(what string, field func(name string) error, want ...string) error {
	if err := r.open(what, '{', "an object, {...}"); err != nil {
		return err
	}
	seen := map[string]bool{}
	for r.dec.More() {
		t, err := r.dec.Token()
		if err != nil {
			return err
		}
		name := t.(string) // the decoder accepts only strings as keys
		if seen[name] {
			return fmt.Errorf("%s has %q twice; remove one", what, name)
		}
		seen[name] = true
		if err := field(name); err != nil {
			return err
		}
	}
	if _, err := r.dec.Token(); err != nil {
		return err
	}
	for _, name := range want {
		if !seen[name] {
			return fmt.Errorf("%s has no %q; add it, as in %s", what, name, r.example)
		}
	}
	return nil
}

// List reads a list and calls element to read each of its elements, with their numbers from 0.
func (r *Reader) List(what string, element func(i int) error) error {
	if err := r.open(what, '[', "a list, [...]"); err != nil {
		return err
	}
	for i := 0; r.dec.More(); i++ {
		if err := element(i); err != nil {
			return err
		}
	}
	_, err := r.dec.Token()
	return err
}

func (r *Reader) open(what string, start json.Delim, form string) error {
	t, err := r.dec.Token()
	if err == nil && t != start {
		err = fmt.Errorf("%s is %v; it must be %s", what, t, form)
	}
	return err
}

// Text reads a string.
func (r *Reader) Text(what string, to *string) error { return read(r, what, "a text in quotes", to) }

// Number reads a number.
func (r *Reader) Number(what string, to *json.Number) error {
	return read(r, what, "a number without quotes", to)
}

// Bool reads true or false.
func (r *Reader) Bool(what string, to *bool) error { return read(r, what, "true or false", to) }

func read[T any](r *Reader, what, form string, to *T) error {
	t, err := r.dec.Token()
	if err != nil {
		return err
	}
	v, ok := t.(T)
	if !ok {
		return fmt.Errorf("%s is %v; it must be %s", what, t, form)
	}
	*to = v
	return nil
}

// End returns an error unless the text has ended. It names the text by what.
func (r *Reader) End(what string) error {
	if _, err := r.dec.Token(); err != io.EOF {
		return fmt.Errorf("there is text after the end of the %s; remove it", what)
	}
	return nil
}

// Locate adds the name of the text and the line of the latest token to an error. A nil error stays nil.
func (r *Reader) Locate(name string, err error) error {
	if err == nil {
		return nil
	}
	at := r.dec.InputOffset()
	var syntax *json.SyntaxError
	switch {
	case errors.As(err, &syntax):
		at, err = syntax.Offset, fmt.Errorf("not JSON: %w", err)
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		at, err = int64(len(r.src)), errors.New("not JSON: the text ends too early")
	}
	line := 1 + bytes.Count(r.src[:min(max(at, 0), int64(len(r.src)))], []byte("\n"))
	return fmt.Errorf("%s:%d: %w", name, line, err)
}
