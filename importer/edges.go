package importer

import (
	"slices"
	"strconv"
)

// parseEdges reads an edge list:
//
//	# a comment
//	load square
//	load root 3.5       what follows the two names belongs to the edge: left out
//	alone               a task without edges
//
// Names that are all numbers are put in numeric order, which is how programs number
// what they write. A first line N M with M edges below it, all between 0 and N-1, is
// a heading, and there are N tasks then.
func parseEdges(d *draft) error {
	rows := slices.Collect(d.lines("#", "%", "//"))
	if n, ok := heading(rows); ok {
		rows = rows[1:]
		for i := range n {
			d.task(strconv.Itoa(i))
		}
	} else if numbers, ok := allNumbers(rows); ok {
		slices.Sort(numbers)
		for _, n := range slices.Compact(numbers) {
			d.task(strconv.Itoa(n))
		}
	}
	for _, row := range rows {
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

// heading is the number of tasks that the first line gives, if it is one.
func heading(rows [][]field) (int, bool) {
	if len(rows) == 0 || len(rows[0]) != 2 {
		return 0, false
	}
	first, ok := allNumbers(rows[:1])
	rest, all := allNumbers(rows[1:])
	if !ok || !all || first[1] != len(rows)-1 || len(rest) != 2*len(rows[1:]) {
		return 0, false
	}
	return first[0], first[0] <= maxTasks && (len(rest) == 0 || slices.Max(rest) < first[0])
}

// maxTasks bounds what a heading can ask for.
const maxTasks = 1 << 24

// allNumbers are the names of all rows as numbers, if each is one in the way that it
// would be printed.
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
