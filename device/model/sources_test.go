package model

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"strings"
	"testing"

	_ "github.com/cockroachdb/datadriven" // its flag, -rewrite
	"github.com/stretchr/testify/require"
)

// source is a Go file of this package, with its comments by line.
type source struct {
	text     string
	files    *token.FileSet
	tree     *ast.File
	comments []*ast.CommentGroup
}

func readSource(t *testing.T, name string) *source {
	text, err := os.ReadFile(name)
	require.NoError(t, err)
	s := &source{text: string(text), files: token.NewFileSet()}
	s.tree, err = parser.ParseFile(s.files, name, text, parser.ParseComments)
	require.NoError(t, err)
	s.comments = s.tree.Comments
	return s
}

func (s *source) line(p token.Pos) int { return s.files.Position(p).Line }

func (s *source) slice(n ast.Node) string {
	return s.text[s.files.Position(n.Pos()).Offset:s.files.Position(n.End()).Offset]
}

// behind is the comment at the end of the line of p.
func (s *source) behind(p token.Pos) string {
	for _, c := range s.comments {
		if s.line(c.Pos()) == s.line(p) {
			return textOf(c)
		}
	}
	return ""
}

// above is the comment that ends on the line before p and begins a line itself.
func (s *source) above(p token.Pos) string {
	for _, c := range s.comments {
		column := s.files.Position(c.Pos()).Column
		start := strings.TrimSpace(s.text[s.files.Position(c.Pos()).Offset-column+1 : s.files.Position(c.Pos()).Offset])
		if start == "" && s.line(c.End()) == s.line(p)-1 {
			return textOf(c)
		}
	}
	return ""
}

func textOf(c *ast.CommentGroup) string { return strings.Join(strings.Fields(c.Text()), " ") }

// figure is one parameter of a profile.
type figure struct{ name, value, from string }

func sourced(text string) bool {
	return strings.Contains(text, "[") || strings.Contains(text, "estimate")
}

// figures lists the parameters of a composite literal, with where each is from:
// the comment behind it, the one above it, or what holds for those around it.
func (s *source) figures(prefix string, lit *ast.CompositeLit, all string) (list []figure) {
	from := all
	for _, e := range lit.Elts {
		kv := e.(*ast.KeyValueExpr)
		name := prefix + strings.TrimPrefix(s.slice(kv.Key), "unit.")
		own := s.behind(kv.Pos())
		if above := s.above(kv.Pos()); above != "" {
			from = above
		} else if prefix == "" && own != "" {
			from = own
		}
		if inner, ok := kv.Value.(*ast.CompositeLit); ok {
			list = append(list, s.figures(name+".", inner, s.behind(inner.Lbrace))...)
			continue
		}
		where := from
		switch {
		case sourced(own):
			where = own
		case own != "" && prefix != "":
			where = own + "; " + all
		case own != "" && from != own:
			where = own + "; " + from
		}
		list = append(list, figure{name, s.slice(kv.Value), where})
	}
	return list
}

// profilesIn finds the profiles of a file and the comment of their declaration.
func (s *source) profilesIn() (lits []*ast.CompositeLit, doc string) {
	for _, d := range s.tree.Decls {
		g, ok := d.(*ast.GenDecl)
		if !ok || g.Tok != token.VAR {
			continue
		}
		doc = g.Doc.Text()
		ast.Inspect(g, func(n ast.Node) bool {
			lit, ok := n.(*ast.CompositeLit)
			if !ok {
				return true
			}
			if s.slice(lit.Type) == "Profile" {
				lits = append(lits, lit)
			}
			return false
		})
	}
	return lits, doc
}

// meanings are the comments of the fields of a struct type, by name.
func (s *source) meanings(typ, prefix string, into map[string]string) {
	ast.Inspect(s.tree, func(n ast.Node) bool {
		spec, ok := n.(*ast.TypeSpec)
		if !ok || spec.Name.Name != typ {
			return true
		}
		for _, f := range spec.Type.(*ast.StructType).Fields.List {
			text := strings.TrimSpace(f.Comment.Text())
			if text == "" {
				text = strings.Join(strings.Fields(f.Doc.Text()), " ")
			}
			for _, name := range f.Names {
				into[prefix+name.Name] = text
			}
		}
		return false
	})
}

// Every figure of a profile says where it is from, and docs/DEVICES.md shows
// them all. `go test ./device/model -run TestEveryFigureHasASource -rewrite` writes it.
func TestEveryFigureHasASource(t *testing.T) {
	meaning := map[string]string{}
	readSource(t, "profile.go").meanings("Profile", "", meaning)
	readSource(t, "profile.go").meanings("HostCosts", "Host.", meaning)
	readSource(t, "occupancy.go").meanings("Limits", "Limits.", meaning)
	var b strings.Builder
	for _, file := range []string{"h200.go", "older.go", "grcuda.go"} {
		s := readSource(t, file)
		lits, doc := s.profilesIn()
		fmt.Fprintf(&b, "%s\n", legend(doc))
		for _, lit := range lits {
			figures := s.figures("", lit, "")
			fmt.Fprintf(&b, "### %s\n\n| parameter | value | what | from |\n|---|---|---|---|\n", strings.Trim(figures[0].value, `"`))
			for _, f := range figures {
				if f.name == "Name" || f.name == "ID" || strings.HasPrefix(f.name, "Compute") {
					continue
				}
				require.True(t, sourced(f.from), "%s: %s has no source: %q", file, f.name, f.from)
				what := meaning[f.name]
				if strings.HasPrefix(f.name, "Lanes.") {
					what = "lanes per cycle and multiprocessor"
				}
				require.NotEmpty(t, what, f.name)
				fmt.Fprintf(&b, "| `%s` | `%s` | %s | %s |\n", f.name, f.value, what, f.from)
			}
			b.WriteString("\n")
		}
	}
	checkPage(t, devicesPage, "parameters", b.String())
}

// legend lists the sources that a comment names: "[D] NVIDIA ...".
func legend(doc string) string {
	var b strings.Builder
	for line := range strings.Lines(doc) {
		switch text := strings.TrimSpace(line); {
		case strings.HasPrefix(text, "["):
			b.WriteString("\n- " + text)
		case b.Len() > 0 && strings.HasPrefix(line, "\t"):
			b.WriteString(" " + text)
		case b.Len() > 0:
			return strings.TrimPrefix(b.String(), "\n") + "\n"
		}
	}
	return strings.TrimPrefix(b.String(), "\n") + "\n"
}

const devicesPage = "../../docs/DEVICES.md"

// checkPage compares a part of a page with text, or writes it there.
func checkPage(t *testing.T, path, name, text string) {
	t.Helper()
	page, err := os.ReadFile(path)
	require.NoError(t, err)
	begin, end := "<!-- begin "+name+", written by a test -->\n", "<!-- end "+name+" -->\n"
	before, rest, ok := strings.Cut(string(page), begin)
	require.True(t, ok, "no %q", begin)
	had, after, ok := strings.Cut(rest, end)
	require.True(t, ok, "no %q", end)
	if f := flag.Lookup("rewrite"); f != nil && f.Value.String() == "true" {
		require.NoError(t, os.WriteFile(path, []byte(before+begin+text+end+after), 0o600))
		return
	}
	require.Equal(t, text, had, "%s is stale: run the test with -rewrite and read the diff", path)
}
