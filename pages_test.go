package reprise_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestPagesShowProgramsThatRun finds each Go block of these pages in an example that the tests run.
func TestPagesShowProgramsThatRun(t *testing.T) {
	var programs strings.Builder
	for _, pattern := range []string{"*_test.go", "examples/*/main.go"} {
		files, err := filepath.Glob(pattern)
		require.NoError(t, err)
		for _, name := range files {
			programs.WriteString(unindented(read(t, name)))
		}
	}
	for _, page := range []string{"README.md", "docs/TUTORIAL.md", "docs/ERRORS.md", "docs/PITFALLS.md"} {
		blocks := regexp.MustCompile("(?ms)^```go\n(.*?)^```").FindAllStringSubmatch(read(t, page), -1)
		require.NotEmpty(t, blocks, page)
		for _, b := range blocks {
			assert.Contains(t, programs.String(), unindented(b[1]), page)
		}
	}
}

// TestPagesLinkToWhatExists follows each relative link of the pages: the file must exist, and a heading
// must make the anchor. Links to other hosts are not followed.
func TestPagesLinkToWhatExists(t *testing.T) {
	links := 0
	for _, page := range pages(t) {
		for _, target := range linkTargets(read(t, page)) {
			if strings.Contains(target, "://") {
				continue
			}
			links++
			file, anchor, _ := strings.Cut(target, "#")
			path := page
			if file != "" {
				path = filepath.Join(filepath.Dir(page), file)
			}
			if _, err := os.Stat(path); !assert.NoError(t, err, "%s links to %s", page, target) {
				continue
			}
			if anchor != "" {
				assert.Contains(t, anchors(read(t, path)), anchor, "%s links to %s", page, target)
			}
		}
	}
	require.Greater(t, links, 100, "hardly any link was found")
}

// TestPagesThatAreNamedExist finds each page of docs that the sources name.
func TestPagesThatAreNamedExist(t *testing.T) {
	named := regexp.MustCompile(`\bdocs/[A-Z][A-Z-]*\.md\b`)
	files := 0
	require.NoError(t, filepath.WalkDir(".", func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.IsDir() && (path == "build" || path == "bin" || path != "." && strings.HasPrefix(e.Name(), ".")):
			return filepath.SkipDir
		case !regexp.MustCompile(`\.(go|sh|md|c|h|cpp|hpp|py)$|^Makefile$`).MatchString(e.Name()):
			return nil
		}
		files++
		for _, page := range named.FindAllString(read(t, path), -1) {
			assert.FileExists(t, page, "%s names it", path)
		}
		return nil
	}))
	require.Greater(t, files, 500, "hardly any file was found")
}

// TestPagesAreShort bounds the words of each page, tables and blocks of code included: "go run ./cmd/survey" counts the
// same. docs/README.md lists every page of docs, and every page of a folder below docs has a link in a page of docs.
func TestPagesAreShort(t *testing.T) {
	index := linkTargets(read(t, "docs/README.md"))
	var below []string
	for _, page := range pages(t) {
		if filepath.Dir(page) == "docs" {
			below = append(below, linkTargets(read(t, page))...)
		}
	}
	for _, page := range pages(t) {
		assert.LessOrEqual(t, len(strings.Fields(read(t, page))), 2500, "words of %s: split it into pages of one purpose each", page)
		name, err := filepath.Rel("docs", page)
		require.NoError(t, err)
		switch {
		case page == "docs/README.md" || strings.HasPrefix(name, ".."):
		case filepath.Dir(page) == "docs":
			assert.Contains(t, index, name, "docs/README.md")
		default:
			assert.Contains(t, below, name, "no page of docs links to it")
		}
	}
}

// pages are the Markdown files of the root and of docs.
func pages(t *testing.T) (found []string) {
	for _, pattern := range []string{"*.md", "docs/*.md", "docs/*/*.md"} {
		files, err := filepath.Glob(pattern)
		require.NoError(t, err)
		found = append(found, files...)
	}
	return found
}

// linkTargets are the targets of the links and images of a page, in the order of the page.
func linkTargets(page string) (targets []string) {
	for _, m := range regexp.MustCompile(`\]\(([^)\s]+)\)`).FindAllStringSubmatch(withoutCode(page), -1) {
		targets = append(targets, m[1])
	}
	return targets
}

// anchors are the anchors of a page as GitHub makes them: the text of each heading in lower case, without
// punctuation, with hyphens for spaces; a repeated one is numbered from 1.
func anchors(page string) (all []string) {
	seen := map[string]int{}
	code := regexp.MustCompile("(?ms)^```.*?^```")
	for _, m := range regexp.MustCompile(`(?m)^#{1,6} +(.*)$`).FindAllStringSubmatch(code.ReplaceAllString(page, ""), -1) {
		text := regexp.MustCompile(`[^\p{L}\p{N} _-]`).ReplaceAllString(strings.ToLower(m[1]), "")
		anchor := strings.ReplaceAll(text, " ", "-")
		if n := seen[anchor]; n > 0 {
			all = append(all, fmt.Sprintf("%s-%d", anchor, n))
		} else {
			all = append(all, anchor)
		}
		seen[anchor]++
	}
	return all
}

// withoutCode is a page without blocks of code and code within a line.
func withoutCode(page string) string {
	page = regexp.MustCompile("(?ms)^```.*?^```").ReplaceAllString(page, "")
	return regexp.MustCompile("`[^`\n]*`").ReplaceAllString(page, "")
}

func read(t *testing.T, name string) string {
	text, err := os.ReadFile(name)
	require.NoError(t, err)
	return string(text)
}

// unindented is text without the white space at the start of lines, and without empty lines.
func unindented(text string) string {
	return regexp.MustCompile(`(?m)^\s+`).ReplaceAllString(text, "")
}
