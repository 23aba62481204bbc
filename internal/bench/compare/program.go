package compare

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/reprise-gpu/reprise/internal/bench"
)

// Programs locates the C++ programs: one per workload, with the same name, and solver/cg.
type Programs struct {
	Dir     string   // directory of the programs
	Library string   // path of the simulated driver; "" for the GPU's driver
	Ordinal int      // of the device, in the order of the driver
	Env     []string // added to the environment of the processes
}

// find returns an error if a program is missing or stale, with the command that builds it.
func (p *Programs) find(names ...string) error {
	if p.Library != "" {
		if !isFile(p.Library) {
			return missing(p.Library, "make libcudasim")
		}
		if err := staleLibrary(p.Library); err != nil {
			return err
		}
	}
	for _, name := range names {
		path := p.path(name)
		if !isFile(path) {
			return missing(path, "make baseline")
		}
		if err := staleProgram(path); err != nil {
			return err
		}
	}
	return nil
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && !info.IsDir()
}

func missing(path, command string) error {
	return fmt.Errorf("there is no %s: `%s` builds it", path, command)
}

func (p *Programs) path(name string) string { return filepath.Join(p.Dir, name) }

// flags returns the flags that every program accepts.
func (p *Programs) flags(c *Config, s setting) []string {
	flags := []string{
		"--size", strconv.Itoa(s.size),
		"--memory", s.memory.String(),
		"--iterations", strconv.Itoa(c.Iterations),
		"--device", strconv.Itoa(p.Ordinal),
		"--seed", strconv.FormatUint(c.Seed, 10),
		"--commit", bench.Commit(),
	}
	if burst, _ := c.burst(s); burst > 0 {
		flags = append(flags, "--version", "all,"+copied, "--burst", strconv.Itoa(burst))
	} else {
		flags = append(flags, "--version", "all")
	}
	if s.threads != 0 {
		flags = append(flags, "--threads", strconv.Itoa(s.threads))
	}
	if c.Sample != 0 {
		flags = append(flags, "--sample", strconv.FormatInt(c.Sample, 10))
	}
	return flags
}

// run runs the program of a setting and returns its measurements. A program with a wrong result marks its records and
// fails; that is not an error here. Any other failure is.
func (p *Programs) run(ctx context.Context, c *Config, s setting, done *progress) (records []bench.Record, err error) {
	records, err = call(ctx, p, s.workload.Name, p.flags(c, s), func(r *bench.Record) {
		if r.Copies == 0 { // not every program has the others
			done.row(r.String())
		}
	})
	var status *exec.ExitError
	if errors.As(err, &status) && status.ExitCode() == 1 && anyWrong(records) {
		err = nil
	}
	if err != nil {
		return nil, err
	}
	return records, nil
}

// call runs a program and returns the records that it printed, even if it failed.
func call[T any](ctx context.Context, p *Programs, name string, flags []string, each func(*T)) ([]T, error) {
	path := p.path(name)
	child := exec.CommandContext(ctx, path, flags...)
	child.Env = append(os.Environ(), p.Env...)
	if p.Library != "" {
		child.Env = append(child.Env, "REPRISE_LIBCUDA="+p.Library)
	}
	child.WaitDelay = 5 * time.Second
	var complaint tail
	child.Stderr = &complaint
	out, err := child.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := child.Start(); err != nil {
		return nil, err
	}
	records, bad := readRecords(out, each)
	_, _ = io.Copy(io.Discard, out) // so that the program does not block after a bad record
	err = child.Wait()
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		return records, fmt.Errorf("%s: %w%s", path, err, complaint.colon())
	case bad != nil:
		return nil, fmt.Errorf("%s: record %d: %w", path, len(records)+1, bad)
	case len(records) == 0:
		return nil, fmt.Errorf("%s printed no record", path)
	}
	return records, nil
}

func anyWrong(records []bench.Record) bool {
	for i := range records {
		if !records[i].OK {
			return true
		}
	}
	return false
}

// readRecords reads a sequence of JSON objects.
func readRecords[T any](from io.Reader, each func(*T)) (all []T, err error) {
	d := json.NewDecoder(from)
	d.DisallowUnknownFields() // both sides have the same schema
	for {
		var r T
		switch err := d.Decode(&r); {
		case errors.Is(err, io.EOF):
			return all, nil
		case err != nil:
			return all, err
		}
		all = append(all, r)
		each(&r)
	}
}

// tail keeps the last part of the text written to it.
type tail struct{ text []byte }

const tailBytes = 4096

func (t *tail) Write(p []byte) (int, error) {
	t.text = append(t.text, p...)
	if n := len(t.text); n > tailBytes {
		t.text = bytes.Clone(t.text[n-tailBytes:])
	}
	return len(p), nil
}

// colon returns a colon and the last three lines, or "" without text. The driver may print the cause before the
// program prints its message.
func (t *tail) colon() string {
	text := strings.TrimSpace(string(t.text))
	if text == "" {
		return ""
	}
	lines := strings.Split(text, "\n")
	return ": " + strings.Join(lines[max(0, len(lines)-3):], "; ")
}
