package optimizer

import (
	"fmt"
	"math"

	"github.com/reprise-gpu/reprise/ir"
)

// DependencyError reports that a program has more dependencies than the analysis can keep. A few thousand
// operations can exceed the limit: if each of 4000 reads what each of another 4000 has written, there are
// 16 million dependencies, and none of them implies another.
type DependencyError struct {
	Op     ir.OpID  // the operation with which the limit is exceeded
	Name   string   // its kernel or label, and its position in the program, if known
	Needs  int      // the number of its dependencies
	First  ir.OpID  // the first of them
	Bytes  ir.Range // bytes that both access; empty if only an after edge orders them
	Buffer string   // the name of the buffer of Bytes
	Limit  int      // the largest number of dependencies of a program with this number of operations
}

func (e *DependencyError) Error() string {
	over, remedy := "", "that comes after the first group and before the second"
	if !e.Bytes.Empty() {
		over = fmt.Sprintf(" (%v over @%s[%d:%d])", e.First, e.Buffer, e.Bytes.Lo, e.Bytes.Hi)
		remedy = fmt.Sprintf("that reads and writes all of @%s", e.Buffer)
	}
	return fmt.Sprintf("operation %v%s depends on %d operations%s: the dependencies of the program exceed %d, the limit for its length: "+
		"put one operation %s between the two groups, or use fewer and larger operations", e.Op, e.Name, e.Needs, over, e.Limit, remedy)
}

// maxDeps returns the largest number of dependencies of a program that are kept. Each takes 40 bytes in
// the analysis. A million operations in layers of 64, each of which waits for a whole layer, stay below the
// limit, and so do two layers of 2000. Rows of dependencies have 32-bit indexes.
func maxDeps(ops int) int { return min(1<<22+64*ops, math.MaxInt32) }

// fits returns a *DependencyError if the dependencies of v, the next operation, exceed the limit.
func (s *hazardScan) fits(v ir.OpID, needs []waitKey) error {
	if len(s.past.deps)+len(needs) <= s.limit {
		return nil
	}
	first := &s.waits[needs[0].index()]
	e := &DependencyError{Op: v, Name: nameOf(&s.g.Ops[v]), Needs: len(needs), First: first.from, Bytes: first.bytes, Limit: s.limit}
	if !e.Bytes.Empty() {
		e.Buffer = s.g.Buffers[e.Bytes.Buffer].Name
	}
	return e
}

// nameOf describes an operation in an error, after its number.
func nameOf(op *ir.Op) (name string) {
	if op.Launch != nil {
		name = ", a launch of " + op.Launch.Entry
	} else if op.Label != "" {
		name = fmt.Sprintf(" %q", op.Label)
	}
	if op.Pos != nil {
		name += fmt.Sprintf(" at %v", op.Pos)
	}
	return name
}
