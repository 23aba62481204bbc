package include_test

import (
	"regexp"
	"strings"
)

// names lists the declarations of the header that a program can check: values of constants, sizes of types, offsets of
// fields, and signatures of functions.
type names struct {
	constants []string // enumerators, and macros that are numbers
	types     []string
	fields    []string // "CUDA_RESOURCE_DESC.res.linear.devPtr"
	functions []string // by every name a program may use, with and without a version
}

var (
	enumerator = regexp.MustCompile(`^    (\w+)( = .*)?$`)
	constant   = regexp.MustCompile(`^#define (\w+) (0x)?[0-9A-Fa-f]+$`)
	opening    = regexp.MustCompile(`^(typedef )?(struct|union|enum)( \w+)? \{$`)
	closing    = regexp.MustCompile(`^\}( (\w+))?;$`)
	field      = regexp.MustCompile(`(\w+)(\[\w+\])*;$`)
	typeName   = regexp.MustCompile(`^typedef .*?(\w+);$`)
	callback   = regexp.MustCompile(`^typedef .*\((?:CUDA_CB )?\*(\w+)\)\(`)
	function   = regexp.MustCompile(`^CUresult CUDAAPI (\w+)\(`)
	renaming   = regexp.MustCompile(`^#define (cu\w+) `)
	comment    = regexp.MustCompile(`/\*[^*]*(\*[^/][^*]*)*\*/`)
)

// parseNames parses our header, in which a line contains at most one declaration or part of one.
func parseNames(text string) names {
	var n names
	var open []string // stack of open braces, each with the paths of the fields directly in it
	var fields [][]string
	functions := map[string]bool{}
	for line := range strings.Lines(comment.ReplaceAllString(text, "")) {
		line = strings.TrimRight(strings.TrimRight(line, "\n"), " ")
		inner := strings.TrimLeft(line, " ")
		switch {
		case opening.MatchString(inner):
			open = append(open, opening.FindStringSubmatch(inner)[2])
			fields = append(fields, nil)
		case len(open) > 0 && closing.MatchString(inner):
			name := closing.FindStringSubmatch(inner)[2]
			paths := fields[len(fields)-1]
			open, fields = open[:len(open)-1], fields[:len(fields)-1]
			if len(open) == 0 {
				n.types = append(n.types, name)
				n.fields = append(n.fields, within(name, paths)...)
			} else {
				top := &fields[len(fields)-1]
				if name != "" {
					*top = append(*top, name)
				}
				*top = append(*top, within(name, paths)...)
			}
		case len(open) > 0 && open[len(open)-1] == "enum":
			if m := enumerator.FindStringSubmatch(strings.TrimSuffix(line, ",")); m != nil {
				n.constants = append(n.constants, m[1])
			}
		case len(open) > 0:
			if m := field.FindStringSubmatch(inner); m != nil {
				top := &fields[len(fields)-1]
				*top = append(*top, m[1])
			}
		case constant.MatchString(line):
			n.constants = append(n.constants, constant.FindStringSubmatch(line)[1])
		case function.MatchString(line), renaming.MatchString(line):
			name := append(function.FindStringSubmatch(line), renaming.FindStringSubmatch(line)...)[1]
			if !functions[name] {
				functions[name] = true
				n.functions = append(n.functions, name)
			}
		case callback.MatchString(line):
			n.types = append(n.types, callback.FindStringSubmatch(line)[1])
		case typeName.MatchString(line):
			n.types = append(n.types, typeName.FindStringSubmatch(line)[1])
		}
	}
	return n
}

// within prefixes the paths of fields with the name of their struct, if it has one.
func within(name string, paths []string) []string {
	if name == "" {
		return paths
	}
	var long []string
	for _, p := range paths {
		long = append(long, name+"."+p)
	}
	return long
}
