package reprise

import (
	"log/slog"

	"github.com/reprise-gpu/reprise/internal/observe"
)

// SetLogger sets the logger of all packages of this module. It receives one record for each decision, of level Info: what was
// planned, instantiated, instantiated again and why, how a loop is lowered, and which repetitions of a program from [Auto]
// are replayed or not. Replays write no records. Nil, as in the beginning, is silent.
//
// Execution traces (runtime/trace) have a task for each recording and regions for plans, passes, instantiations and replays.
// In profiles, goroutines that plan have the labels "reprise" and "program".
func SetLogger(l *slog.Logger) { observe.SetLogger(l) }
