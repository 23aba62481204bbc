package importer

import (
	"slices"
	"strconv"
)

// parseSTG reads a graph of the Standard Task Graph Set (Tobita and Kasahara, "A
// standard task graph set for fair evaluation of multiprocessor scheduling
// algorithms", J. Scheduling 2002), without communication costs:
//
//	4            number of tasks, without those for entry and exit
//	0 0 0        number, time, number of predecessors, predecessors
//	1 5 1 0
//	2 3 1 0
//	3 4 2 1 2
//	4 2 1 1
//	5 0 2 3 4
//	# information
//
// The prototypes of that set have the number of processors as a second number in the first line,
// and no entry task.
func parseSTG(d *draft) error {
	rows := slices.Collect(d.lines("#"))
	if len(rows) == 0 || len(rows[0]) > 2 {
		return d.errorf(0, "the first line of an STG file must be the number of tasks")
	}
	n, err := d.number(rows[0][0])
	if err != nil {
		return err
	}
	if got := len(rows) - 1; got < n || got > n+2 {
		return d.errorf(rows[0][0].at, "the first line announces %d tasks and %d follow: only two more are valid, entry and exit", n, got)
	}
	for _, row := range rows[1:] {
		if err := d.stgTask(row); err != nil {
			return err
		}
	}
	for _, row := range rows[1:] {
		if err := d.stgArcs(row); err != nil {
			return err
		}
	}
	return nil
}

// stgTask adds the task of a row.
func (d *draft) stgTask(row []field) error {
	if len(row) < 3 {
		return d.errorf(row[0].at, "a line must be NUMBER TIME COUNT, followed by the numbers of COUNT predecessors")
	}
	if _, err := d.number(row[0]); err != nil {
		return err
	}
	if _, ok := d.index[row[0].word]; ok {
		return d.errorf(row[0].at, "task %s occurs twice", row[0].word)
	}
	cost, err := d.nanoseconds(row[1].at, row[1].word)
	if err != nil {
		return err
	}
	d.tasks[d.task(row[0].word)].cost = cost
	return nil
}

// stgArcs adds the arcs from the predecessors in a row. All tasks must have been added.
func (d *draft) stgArcs(row []field) error {
	n, err := d.number(row[2])
	if err != nil {
		return err
	}
	preds := row[3:]
	if len(preds) != n {
		return d.errorf(row[2].at, "the line announces %d predecessors and %d follow: it must be NUMBER TIME COUNT and COUNT numbers, without costs of communication", n, len(preds))
	}
	to := d.index[row[0].word]
	for _, p := range preds {
		from, ok := d.index[p.word]
		if !ok {
			return d.errorf(p.at, "there is no task %s", p.word)
		}
		if err := d.arc(from, to, p.at); err != nil {
			return err
		}
	}
	return nil
}

// number reads a whole number that is not negative.
func (d *draft) number(f field) (int, error) {
	n, err := strconv.Atoi(f.word)
	if err != nil || n < 0 {
		return 0, d.errorf(f.at, "%q is not a number of tasks", f.word)
	}
	return n, nil
}
