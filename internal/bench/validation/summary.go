package validation

import (
	"maps"
	"slices"
)

// Summary holds the statistics of results. Rows of LaunchClass count only in the group of that class.
type Summary struct {
	All    *Statistics `json:"all_but_launch,omitempty"` // nil if there is no such row
	Groups []Groups    `json:"groups,omitempty"`
	Held   []HeldOut   `json:"held_out,omitempty"` // from Refit
}

// Groups are the statistics of rows that have a property in common.
type Groups struct {
	By   string  `json:"by"` // "class", "gpu", "set", "kernel"
	List []Group `json:"list"`
}

// Group is the statistics of the rows with one value of a property.
type Group struct {
	Name string `json:"name"`
	Statistics
}

// properties are those by which rows are grouped.
var properties = []struct {
	name string
	of   func(*Row) string
}{
	{"class", func(r *Row) string { return r.Class }},
	{"gpu", func(r *Row) string { return r.GPU }},
	{"set", func(r *Row) string { return r.Set }},
	{"kernel", func(r *Row) string { return r.Kernel }},
}

// Summarize groups the results without errors.
func Summarize(results []Result) *Summary {
	var all, kernels []*Result
	for i := range results {
		if r := &results[i]; r.Err == nil {
			if all = append(all, r); r.Row.Class != LaunchClass {
				kernels = append(kernels, r)
			}
		}
	}
	s := &Summary{}
	if len(kernels) > 0 {
		described := Describe(kernels)
		s.All = &described
	}
	for _, p := range properties {
		from := kernels
		if p.name == "class" {
			from = all
		}
		if len(from) > 0 {
			s.Groups = append(s.Groups, Groups{By: p.name, List: group(from, p.of)})
		}
	}
	return s
}

// group returns the statistics for each value of a property, sorted by the value.
func group(results []*Result, of func(*Row) string) (list []Group) {
	parts := partition(results, of)
	for _, name := range slices.Sorted(maps.Keys(parts)) {
		list = append(list, Group{name, Describe(parts[name])})
	}
	return list
}

func partition(results []*Result, of func(*Row) string) map[string][]*Result {
	parts := map[string][]*Result{}
	for _, r := range results {
		parts[of(r.Row)] = append(parts[of(r.Row)], r)
	}
	return parts
}

// By returns the groups of a property.
func (s *Summary) By(property string) []Group {
	for _, g := range s.Groups {
		if g.By == property {
			return g.List
		}
	}
	return nil
}
