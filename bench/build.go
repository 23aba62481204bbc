package bench

import (
	"os/exec"
	"runtime/debug"
	"strings"
	"sync"
)

// Commit is the revision the program was built from, "unknown" when neither the
// binary nor the working directory tells. The linker's stamp comes first; `go
// run` leaves none, so then the working directory has to tell.
var Commit = sync.OnceValue(func() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				return s.Value[:min(12, len(s.Value))]
			}
		}
	}
	out, err := exec.Command("git", "describe", "--always", "--dirty", "--abbrev=12").Output()
	if err != nil {
		return "unknown"
	}
	return strings.TrimSpace(string(out))
})
