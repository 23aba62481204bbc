// Package schedules reads schedules, for the packages that make them and those that run them.
package schedules

import (
	"github.com/reprise-gpu/reprise/internal/dense"
	"github.com/reprise-gpu/reprise/ir"
)

// Records reports, by operation, whether another lane waits for it, so that an event must be recorded behind it.
func Records(s *ir.Schedule) []bool { return dense.Tails(s.Waits) }
