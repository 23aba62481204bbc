package report

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// alwaysOpen is the largest number of operations that a page shows without groups.
const alwaysOpen = 150

// divide divides a large program into groups: runs of operations in program order, so that edges between groups are acyclic.
// There are about as many groups as operations in each. A group ends where the source line or the first part of the label
// changes, if it does near its end. Bodies of loops and branches are groups already.
func (d *Data) divide() {
	for i, g := range d.Groups {
		for _, v := range g.Ops {
			d.Operation[v].Group = i // an inner body comes before the outer one, which takes its operations
		}
	}
	d.Groups = d.nonEmpty()
	if len(d.Operation) <= alwaysOpen {
		return
	}
	size := int(math.Ceil(math.Sqrt(float64(len(d.Operation)))))
	var run []int
	for v := range d.Operation {
		if d.Operation[v].Group >= 0 {
			continue
		}
		if len(run) >= size/2 && (len(run) >= 3*size/2 || d.prefix(v) != d.prefix(run[len(run)-1])) {
			d.group(run)
			run = nil
		}
		run = append(run, v)
	}
	d.group(run)
}

// nonEmpty returns the groups that hold operations, and renumbers the operations.
func (d *Data) nonEmpty() (kept []Group) {
	kept = []Group{}
	number := make([]int, len(d.Groups))
	for i := range d.Groups {
		number[i] = -1
		ops := slices.DeleteFunc(slices.Clone(d.Groups[i].Ops), func(v int) bool { return d.Operation[v].Group != i })
		if len(ops) > 0 {
			number[i] = len(kept)
			kept = append(kept, Group{d.Groups[i].Title, ops})
		}
	}
	for v := range d.Operation {
		if g := d.Operation[v].Group; g >= 0 {
			d.Operation[v].Group = number[g]
		}
	}
	return kept
}

// group adds a group unless it has fewer than two operations.
func (d *Data) group(ops []int) {
	if len(ops) < 2 {
		return
	}
	for _, v := range ops {
		d.Operation[v].Group = len(d.Groups)
	}
	d.Groups = append(d.Groups, Group{d.summary(ops), ops})
}

// prefix returns the first part of the label, or else the line, of an operation.
func (d *Data) prefix(v int) string {
	title, _, found := strings.Cut(d.Operation[v].Title, ".")
	if found {
		return title
	}
	return d.Operation[v].Source
}

// summary names a group by the first part of its labels if all have the same, else by its most frequent title.
func (d *Data) summary(ops []int) string {
	if first, _, found := strings.Cut(d.Operation[ops[0]].Title, "."); found && !slices.ContainsFunc(ops, func(v int) bool {
		return !strings.HasPrefix(d.Operation[v].Title, first+".")
	}) {
		return first
	}
	count, best := map[string]int{}, ""
	for _, v := range ops {
		title, _, _ := strings.Cut(d.Operation[v].Title, "#") // of all combine#1, combine#2, ... it is combine
		count[title]++
		if best == "" || count[title] > count[best] {
			best = title
		}
	}
	if n := len(count); n > 1 {
		return fmt.Sprintf("%s and %d more", best, n-1)
	}
	return best
}
