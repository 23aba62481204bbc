package compare

import (
	"bytes"
	"debug/buildinfo"
	"fmt"
	"os"
	"regexp"
	"runtime/debug"

	"github.com/reprise-gpu/reprise/sim"
)

// Sources is a hash of the files that the C++ programs are built from, as the Makefile notes it.
var Sources string

// staleLibrary reports a simulated driver that was built from other files than the simulator of
// this program: it would keep another time. What was built without the Makefile does not
// tell, and a driver that is no Go library is somebody's own.
func staleLibrary(path string) error {
	info, err := buildinfo.ReadFile(path)
	if sim.Sources == "" || err != nil || sourcesOf(info) == sim.Sources {
		return nil
	}
	return fmt.Errorf("%s simulates otherwise than this program does, for it was built from other files: `make build libcudasim` builds both", path)
}

// staleProgram reports a C++ program that was built from other files than there were when this
// one was: its times would be of another schedule. What does not tell is somebody's own.
func staleProgram(path string) error {
	const mark = "reprise baseline sources "
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	_, noted, ok := bytes.Cut(data, []byte(mark))
	if Sources == "" || !ok || bytes.HasPrefix(noted, []byte(Sources)) {
		return nil
	}
	return fmt.Errorf("%s was built from other files in C++ than there were when this program was: `make build baseline` builds both", path)
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
