package unit

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// MarshalJSON writes the counts that are not 0 by the names of their units.
func (w Work) MarshalJSON() ([]byte, error) {
	byName := map[string]float64{}
	for u, n := range w {
		if n != 0 {
			byName[names[u]] = n
		}
	}
	return json.Marshal(byName) // in the order of the names
}

// UnmarshalJSON is the inverse.
func (w *Work) UnmarshalJSON(text []byte) error {
	var byName map[string]float64
	if err := json.Unmarshal(text, &byName); err != nil {
		return err
	}
	*w = Work{}
	for u, name := range names {
		w[u] = byName[name]
		delete(byName, name)
	}
	unknown := make([]string, 0, len(byName))
	for name := range byName {
		unknown = append(unknown, name)
	}
	if len(unknown) > 0 {
		return fmt.Errorf("there is no unit %q: the units are %s", slices.Min(unknown), strings.Join(names[:], ", "))
	}
	return nil
}
