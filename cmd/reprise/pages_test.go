package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestPagesShowWhatCommandsPrint runs the transcripts of README and docs: each block marked "console". A line
// "$ reprise ..." is a command. The lines up to the next command are its expected output, on either stream. There,
// "..." alone on a line matches any lines, and at the end of a line the rest of it. Line numbers of
// package bench may differ. The commands of a page run in one folder, which links to the folders of the project.
func TestPagesShowWhatCommandsPrint(t *testing.T) {
	root, err := filepath.Abs("../..")
	require.NoError(t, err)
	var pages []string
	for _, pattern := range []string{"*.md", "docs/*.md"} {
		found, err := filepath.Glob(filepath.Join(root, pattern))
		require.NoError(t, err)
		pages = append(pages, found...)
	}
	commands := 0
	for _, page := range pages {
		text, err := os.ReadFile(page)
		require.NoError(t, err)
		steps := transcript(string(text))
		if commands += len(steps); len(steps) == 0 {
			continue
		}
		t.Run(filepath.Base(page), func(t *testing.T) {
			t.Chdir(t.TempDir())
			for _, folder := range []string{"internal", "docs"} {
				require.NoError(t, os.Symlink(filepath.Join(root, folder), folder))
			}
			for _, s := range steps {
				stdout, stderr, _ := reprise(s.args...)
				assert.Regexp(t, s.output, stdout+stderr, "reprise %s", strings.Join(s.args, " "))
			}
		})
	}
	require.Greater(t, commands, 8, "hardly any command was found")
}

// step is a command of a transcript, and the pattern that its output must match.
type step struct {
	args   []string
	output *regexp.Regexp
}

func transcript(page string) (steps []step) {
	for _, block := range regexp.MustCompile("(?ms)^```console\n(.*?)^```").FindAllStringSubmatch(page, -1) {
		for _, command := range strings.Split("\n"+block[1], "\n$ reprise ")[1:] {
			line, output, _ := strings.Cut(command+"\n", "\n")
			steps = append(steps, step{strings.Fields(line), pattern(strings.TrimRight(output, "\n"))})
		}
	}
	return steps
}

// pattern returns an expression that matches the output that a page shows.
func pattern(output string) *regexp.Regexp {
	quoted := regexp.QuoteMeta(output)
	quoted = regexp.MustCompile(`(?m)^\\\.\\\.\\\.\n?`).ReplaceAllString(quoted, `(?s:.*)`)
	quoted = regexp.MustCompile(`(?m)\\\.\\\.\\\.$`).ReplaceAllString(quoted, `.*`)
	quoted = regexp.MustCompile(`(bench/\w+\\\.go):\d+`).ReplaceAllString(quoted, `$1:\d+`)
	return regexp.MustCompile(`\A` + quoted + `\n*\z`)
}
