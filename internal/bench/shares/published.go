package shares

import (
	"embed"
	"fmt"
	"path"
	"slices"
	"strings"
)

// The traces that are part of the program. Their README states the source.
//
//go:embed traces/*.csv
var published embed.FS

// TraceNames lists the traces that are part of the program.
func TraceNames() (names []string) {
	files, err := published.ReadDir("traces")
	if err != nil {
		panic("BUG: " + err.Error())
	}
	for _, f := range files {
		names = append(names, strings.TrimSuffix(f.Name(), ".csv"))
	}
	return names
}

// PublishedTrace returns a trace that is part of the program.
func PublishedTrace(name string) (*Trace, error) {
	if !slices.Contains(TraceNames(), name) {
		return nil, fmt.Errorf("unknown trace %q: use a .csv file, or one of %s", name, strings.Join(TraceNames(), ", "))
	}
	file, err := published.Open(path.Join("traces", name+".csv"))
	if err != nil {
		return nil, err
	}
	t, err := ReadTrace(name+".csv", file)
	if err != nil {
		return nil, err
	}
	t.Name = name
	return t, file.Close()
}
