package compare

import (
	"bytes"
	"debug/buildinfo"
	"fmt"
	"os"
	"reflect"
	"regexp"
	"runtime/debug"

	"github.com/reprise-gpu/reprise/internal/sim"
)

// Sources is a hash of the source files of the C++ programs, which the Makefile sets.
var Sources string

// staleLibrary returns an error for a simulated driver built from other files than the simulator of this program,
// because its times would differ. It accepts builds without the Makefile, and drivers that are not Go libraries.
func staleLibrary(path string) error {
	info, err := buildinfo.ReadFile(path)
	if sim.Sources == "" || err != nil || sourcesOf(info) == sim.Sources {
		return nil
	}
	return fmt.Errorf("%s was built from other files than the simulator of this program, so its times differ: `make build libcudasim` builds both", path)
}

// staleProgram returns an error for a C++ program built from other files than those present when this program was
// built, because its schedule may differ. It accepts programs without a hash.
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
	return fmt.Errorf("%s was built from other C++ files than those present when this program was built: `make build baseline` builds both", path)
}

// sourcesFlag is the linker's flag with which the Makefile sets sim.Sources, up to the hash.
var sourcesFlag = "-X=" + reflect.TypeFor[sim.Options]().PkgPath() + ".Sources="

var sourcesNoted = regexp.MustCompile(regexp.QuoteMeta(sourcesFlag) + `([0-9a-f]+)`)

// sourcesOf returns the sim.Sources of a library, or "" if it has none.
func sourcesOf(info *debug.BuildInfo) string {
	for _, s := range info.Settings {
		if noted := sourcesNoted.FindStringSubmatch(s.Value); s.Key == "-ldflags" && noted != nil {
			return noted[1]
		}
	}
	return ""
}
