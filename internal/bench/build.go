package bench

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strings"
	"sync"
)

// revision is set by the Makefile, because go leaves no stamp in a linked worktree.
var revision string

// Commit is the revision that the program was built from, followed by "-dirty" if files had changed, or "unknown".
// The sources, in order, are the stamp of the go command, revision, and, for `go run`, the working directory if it is
// a checkout of this module.
var Commit = sync.OnceValue(func() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	if stamp := stamped(info); stamp != "" {
		return stamp
	}
	if revision != "" {
		return revision
	}
	return checkedOut(info.Main.Path)
})

func stamped(info *debug.BuildInfo) string {
	revision, dirty := "", ""
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			revision = s.Value[:min(12, len(s.Value))]
		case s.Key == "vcs.modified" && s.Value == "true":
			dirty = "-dirty"
		}
	}
	if revision == "" {
		return ""
	}
	return revision + dirty
}

// checkedOut returns git's revision of the working directory if that is in a checkout of the module.
func checkedOut(module string) string {
	top, err := exec.Command("git", "rev-parse", "--show-toplevel").Output()
	if err != nil {
		return "unknown"
	}
	mod, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(top)), "go.mod"))
	if err != nil || !strings.HasPrefix(string(mod), "module "+module+"\n") {
		return "unknown"
	}
	out, err := exec.Command("git", "describe", "--always", "--dirty", "--abbrev=12").Output()
	if err != nil {
		return "unknown"
	}
	return strings.TrimSpace(string(out))
}
