package importer

import (
	"slices"
	"strconv"
	"strings"
)

// parseEdges reads an edge list:
//
//	# a comment
//	load square
//	load root 3.5       words after the two names are ignored
//	alone               a task without edges
//
// If all names are numbers, tasks are in numeric order. A first line that may be a heading is an error,
// because it cannot be distinguished from an edge.
func parseEdges(d *draft) error {
	rows := slices.Collect(d.lines(edgeComments...))
	if n, ok := heading(rows); ok && alone(n, rows) <= maxAlone {
		return d.errorf(rows[0][0].at, "this line may be a heading (%d tasks, %s edges) or an edge: for a heading select the format counted, for an edge add a third word", n, rows[0][1].word)
	}
	if numbers, ok := allNumbers(rows); ok {
		slices.Sort(numbers)
		for _, n := range slices.Compact(numbers) {
			d.task(strconv.Itoa(n))
		}
	}
	return d.edges(rows)
}

// parseCounted reads an edge list with a heading: N M, the numbers of tasks and
// edges, followed by M edges between tasks 0 to N-1.
func parseCounted(d *draft) error {
	rows := slices.Collect(d.lines(edgeComments...))
	n, ok := heading(rows)
	if !ok {
		return d.errorf(0, "the first line must be N M, and M lines FROM TO must follow with numbers from 0 to N-1")
	}
	if alone := alone(n, rows); alone > maxAlone {
		return d.errorf(rows[0][0].at, "at least %d tasks have no edge, and the limit is %d: leave them out", alone, maxAlone)
	}
	for i := range n {
		d.task(strconv.Itoa(i))
	}
	return d.edges(rows[1:])
}

var edgeComments = []string{"#", "%", "//"}

func (d *draft) edges(rows [][]field) error {
	for _, row := range rows {
		if len(row) > 1 && (row[1].word == "->" || row[1].word == "--") {
			return d.errorf(row[1].at, "put a blank between the names of an edge instead of %s, or select the format dot", row[1].word)
		}
		if strings.HasSuffix(row[0].word, ",") || len(row) == 1 && strings.Contains(row[0].word, ",") {
			return d.errorf(row[0].at, "%s: put blanks between the names of an edge instead of a comma", row[0].word)
		}
		from := d.task(row[0].word)
		if len(row) == 1 {
			continue
		}
		if err := d.arc(from, d.task(row[1].word), row[0].at); err != nil {
			return err
		}
	}
	return nil
}

// heading returns the number of tasks in the first line, and whether that line can be a heading.
func heading(rows [][]field) (int, bool) {
	if len(rows) == 0 || len(rows[0]) != 2 {
		return 0, false
	}
	first, ok := allNumbers(rows[:1])
	rest, all := allNumbers(rows[1:])
	if !ok || !all || first[1] != len(rows)-1 || len(rest) != 2*len(rows[1:]) {
		return 0, false
	}
	return first[0], len(rest) == 0 || slices.Max(rest) < first[0]
}

// alone returns a lower bound of the number of tasks without edges, of n tasks with the edges in rows[1:].
func alone(n int, rows [][]field) int { return n - 2*(len(rows)-1) }

// maxAlone bounds the tasks without edges. A heading of a few bytes could otherwise exhaust the memory.
const maxAlone = 1 << 16

// allNumbers returns the names in all rows as numbers, and whether each name is a number in its usual decimal form.
func allNumbers(rows [][]field) ([]int, bool) {
	var numbers []int
	for _, row := range rows {
		for _, f := range row[:min(2, len(row))] {
			n, err := strconv.Atoi(f.word)
			if err != nil || n < 0 || strconv.Itoa(n) != f.word {
				return nil, false
			}
			numbers = append(numbers, n)
		}
	}
	return numbers, true
}
