package reprise_test

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// feature is a row of a table of docs/FEATURES.md.
type feature struct {
	number, what, state, where, tests string
}

// features returns the rows of the tables, table by table.
func features(page string) (tables [][]feature) {
	for line := range strings.Lines(page) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		switch {
		case strings.HasPrefix(line, "| | feature |"):
			tables = append(tables, nil)
		case len(tables) > 0 && regexp.MustCompile(`^\| \d+ \|`).MatchString(line):
			last := &tables[len(tables)-1]
			for len(cells) < 5 {
				cells = append(cells, "")
			}
			*last = append(*last, feature{cells[0], cells[1], cells[2], cells[3], strings.Join(cells[4:], "|")})
		}
	}
	return tables
}

// TestFeaturesHaveTests finds each test that the page names in the file that it links to. Every feature has one, and a
// link to a page or an explanation.
func TestFeaturesHaveTests(t *testing.T) {
	links := regexp.MustCompile(`\[([^\]]*)\]\(([^)]*)\)`)
	name := regexp.MustCompile(`\b(?:Test|Example|Benchmark)\w*`)
	for _, table := range features(read(t, "docs/FEATURES.md")) {
		for _, f := range table {
			assert.Contains(t, []string{"present", "partial", "absent"}, f.state, f.what)
			if f.state == "present" {
				assert.Contains(t, f.where, ".md", "%s: a page", f.what)
			}
			tests := links.FindAllStringSubmatch(f.tests, -1)
			assert.True(t, f.state == "absent" || len(tests) > 0, "%s: a test", f.what)
			for _, link := range tests {
				names := name.FindAllString(link[1], -1)
				assert.NotEmpty(t, names, "%s: %s names no test", f.what, link[0])
				require.True(t, strings.HasSuffix(link[2], "_test.go"), link[0])
				text := read(t, filepath.Join("docs", link[2]))
				for _, n := range names {
					assert.Contains(t, text, "\nfunc "+n+"(", "%s: %s", f.what, link[2])
				}
			}
		}
	}
}

// TestFeaturesAreCounted compares the numbers of the text with the rows.
func TestFeaturesAreCounted(t *testing.T) {
	page := read(t, "docs/FEATURES.md")
	tables := features(page)
	require.Len(t, tables, 2)
	count := map[string]int{}
	for i, table := range tables {
		for j, f := range table {
			assert.Equal(t, fmt.Sprint(j+1), f.number, f.what)
			count[fmt.Sprintf("%d %s", i, f.state)]++
		}
	}
	text, _, _ := strings.Cut(strings.Join(strings.Fields(page), " "), "##")
	assert.Contains(t, text, fmt.Sprintf("The first table has %d features", len(tables[0])))
	assert.Contains(t, text, fmt.Sprintf("The second has %d that", len(tables[1])))
	assert.Contains(t, text, fmt.Sprintf("Of the first table, %d of %d are present and %d are partial; of the second, %d of %d are present.",
		count["0 present"], len(tables[0]), count["0 partial"], count["1 present"], len(tables[1])))
}
