package compare

import (
	"debug/buildinfo"
	"fmt"
	"regexp"
	"runtime/debug"

	"github.com/reprise-gpu/reprise/sim"
)

// stale reports a simulated driver that was built from other files than the simulator of
// this program: it would keep another time. What was built without the Makefile does not
// tell, and a driver that is no Go library is somebody's own.
func (p *Programs) stale() error {
	info, err := buildinfo.ReadFile(p.Library)
	if sim.Sources == "" || err != nil || sourcesOf(info) == sim.Sources {
		return nil
	}
	return fmt.Errorf("%s simulates otherwise than this program does, for it was built from other files: `make build libcudasim` builds both", p.Library)
}

var sourcesNoted = regexp.MustCompile(`\Q-X=github.com/reprise-gpu/reprise/sim.Sources=\E([0-9a-f]+)`)

// sourcesOf is the sim.Sources of a library, "" if it has none.
func sourcesOf(info *debug.BuildInfo) string {
	for _, s := range info.Settings {
		if noted := sourcesNoted.FindStringSubmatch(s.Value); s.Key == "-ldflags" && noted != nil {
			return noted[1]
		}
	}
	return ""
}
