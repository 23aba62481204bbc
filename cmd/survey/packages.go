package main

import (
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// counts are the figures of a package or of an area.
type counts struct {
	path       string
	packages   int
	importable int // packages that another module can import
	exported   int // names: constants, variables, types, functions and methods of importable packages
	code       int // lines with code, without tests
	comment    int // lines with a comment and no code, without tests
	tests      int // lines with code, in tests
}

// share returns the fraction of comment lines among the lines that are not blank.
func (c counts) share() float64 {
	if c.code == 0 {
		return 0
	}
	return float64(c.comment) / float64(c.code+c.comment)
}

func (c counts) plus(d counts) counts {
	return counts{
		c.path, c.packages + d.packages, c.importable + d.importable, c.exported + d.exported,
		c.code + d.code, c.comment + d.comment, c.tests + d.tests,
	}
}

// exportedIn returns the number of exported names of all packages.
func exportedIn(packages []counts) (n int) {
	for _, p := range packages {
		n += p.exported
	}
	return n
}

// readPackages counts each folder with Go files below root, whatever their build tags, by path.
func readPackages(root string) ([]counts, error) {
	var all []counts
	err := filepath.WalkDir(root, func(file string, e fs.DirEntry, err error) error {
		if err != nil || !e.IsDir() {
			return err
		}
		if name := e.Name(); file != root && (name == "testdata" || name == "build" || strings.HasPrefix(name, ".")) {
			return filepath.SkipDir
		}
		c, err := readPackage(root, file)
		if c.packages > 0 {
			all = append(all, c)
		}
		return err
	})
	return all, err
}

func readPackage(root, folder string) (counts, error) {
	rel, err := filepath.Rel(root, folder)
	if err != nil {
		return counts{}, err
	}
	c := counts{path: filepath.ToSlash(rel)}
	files, err := filepath.Glob(filepath.Join(folder, "*.go"))
	if err != nil {
		return c, err
	}
	for _, name := range files {
		src, err := os.ReadFile(name)
		if err != nil {
			return c, err
		}
		c.packages = 1
		code, comment := lines(src)
		if strings.HasSuffix(name, "_test.go") {
			c.tests += code
			continue
		}
		c.code += code
		c.comment += comment
		f, err := parser.ParseFile(token.NewFileSet(), name, src, parser.SkipObjectResolution)
		if err != nil {
			return c, err
		}
		if f.Name.Name != "main" && !slices.Contains(strings.Split(c.path, "/"), "internal") {
			c.importable = 1
			c.exported += exportedNames(f)
		}
	}
	return c, nil
}

// exportedNames counts the exported names that a file declares at the top level, and the exported
// methods of exported types. Fields and the methods of interfaces belong to their type.
func exportedNames(f *ast.File) (n int) {
	count := func(names ...*ast.Ident) {
		for _, name := range names {
			if name.IsExported() {
				n++
			}
		}
	}
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil || receiver(d.Recv.List[0].Type).IsExported() {
				count(d.Name)
			}
		case *ast.GenDecl:
			for _, s := range d.Specs {
				switch s := s.(type) {
				case *ast.ValueSpec:
					count(s.Names...)
				case *ast.TypeSpec:
					count(s.Name)
				}
			}
		}
	}
	return n
}

// receiver returns the name of a receiver's type.
func receiver(e ast.Expr) *ast.Ident {
	switch e := e.(type) {
	case *ast.StarExpr:
		return receiver(e.X)
	case *ast.IndexExpr:
		return receiver(e.X)
	case *ast.IndexListExpr:
		return receiver(e.X)
	default:
		return e.(*ast.Ident)
	}
}

// lines counts the lines of a file with code, and those with a comment and no code.
func lines(src []byte) (code, comment int) {
	const isCode, isComment = 1, 2
	files := token.NewFileSet()
	file := files.AddFile("", -1, len(src))
	var s scanner.Scanner
	s.Init(file, src, nil, scanner.ScanComments)
	holds := map[int]int{}
	for {
		pos, t, text := s.Scan()
		if t == token.EOF {
			break
		}
		if t == token.SEMICOLON && text == "\n" {
			continue
		}
		what := isCode
		if t == token.COMMENT {
			what = isComment
		}
		first := file.Line(pos)
		for i := range strings.Count(text, "\n") + 1 {
			holds[first+i] |= what
		}
	}
	for _, what := range holds {
		if what == isComment {
			comment++
		} else {
			code++
		}
	}
	return code, comment
}

// byArea sums up packages by the first element of their path, and ends with the sum of all.
func byArea(packages []counts) []counts {
	var areas []counts
	all := counts{path: "all"}
	for _, p := range packages {
		area, _, _ := strings.Cut(path.Clean(p.path), "/")
		if area == "." {
			area = "reprise"
		}
		i := slices.IndexFunc(areas, func(c counts) bool { return c.path == area })
		if i < 0 {
			i = len(areas)
			areas = append(areas, counts{path: area})
		}
		areas[i] = areas[i].plus(p)
		all = all.plus(p)
	}
	return append(areas, all)
}
