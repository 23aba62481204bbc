package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// page holds the figures of a Markdown file. Words in code blocks, tables and headings are counted, but these are not
// sentences.
type page struct {
	path      string
	words     int
	sentences int
	longest   int // words of the longest sentence
}

func readPages(root string) ([]page, error) {
	var pages []page
	for _, pattern := range []string{"*.md", "docs/*.md", "docs/*/*.md"} {
		files, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil {
			return nil, err
		}
		for _, name := range files {
			text, err := os.ReadFile(name)
			if err != nil {
				return nil, err
			}
			rel, err := filepath.Rel(root, name)
			if err != nil {
				return nil, err
			}
			pages = append(pages, newPage(filepath.ToSlash(rel), string(text)))
		}
	}
	return pages, nil
}

func newPage(path, text string) page {
	p := page{path: path, words: len(strings.Fields(text))}
	for _, s := range sentences(text) {
		p.sentences++
		p.longest = max(p.longest, len(strings.Fields(s)))
	}
	return p
}

var (
	endOfSentence = regexp.MustCompile(`[.!?:][)*_]*\s+`)
	item          = regexp.MustCompile(`^\s*([-*+]|\d+\.)\s+`)
)

// sentences returns the sentences of a page's prose: all text except code blocks, tables, headings and references.
func sentences(text string) []string {
	var all []string
	paragraph := ""
	flush := func() {
		for _, s := range endOfSentence.Split(paragraph, -1) {
			if s = strings.TrimSpace(s); s != "" {
				all = append(all, s)
			}
		}
		paragraph = ""
	}
	code := false
	for _, line := range strings.Split(text, "\n") {
		trimmed := strings.TrimSpace(line)
		if strings.HasPrefix(trimmed, "```") {
			code = !code
			flush()
			continue
		}
		switch {
		case code:
		case trimmed == "", strings.HasPrefix(trimmed, "#"), strings.HasPrefix(trimmed, "|"), strings.HasPrefix(trimmed, "<"):
			flush()
		case item.MatchString(line):
			flush()
			paragraph = item.ReplaceAllString(line, "")
		default:
			paragraph += " " + trimmed
		}
	}
	flush()
	return all
}
