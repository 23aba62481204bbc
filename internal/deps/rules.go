package deps

import (
	"fmt"
	"slices"
	"strings"
)

// rules is the parsed rules.txt.
type rules struct {
	code, tests []rule // of the packages, and what their tests may import beside
}

type rule struct {
	pkg     string // a pattern
	imports []string
	reason  string
}

// parseRules reads rules.txt; the error names the line.
func parseRules(text string) (rules, error) {
	var rs rules
	seen := map[string]bool{}
	for i, line := range strings.Split(text, "\n") {
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		head, rest, ok := strings.Cut(line, ":")
		imports, reason, hasReason := strings.Cut(rest, "#")
		r := rule{imports: strings.Fields(imports), reason: strings.TrimSpace(reason)}
		switch {
		case !ok:
			return rules{}, fmt.Errorf("line %d: %q has no colon: write PACKAGE: IMPORT... # REASON", i+1, line)
		case !hasReason || r.reason == "":
			return rules{}, fmt.Errorf("line %d: the rule of %s gives no reason after a #", i+1, head)
		case seen[head]:
			return rules{}, fmt.Errorf("line %d: a second rule of %s", i+1, head)
		}
		seen[head] = true
		pkg, isTests := strings.CutSuffix(head, " tests")
		r.pkg = pkg
		if isTests {
			rs.tests = append(rs.tests, r)
		} else {
			rs.code = append(rs.code, r)
		}
	}
	return rs, nil
}

// find returns the rule with the longest match for pkg, nil when none matches. An
// exact name is longer than a pattern that matches it.
func find(rs []rule, pkg string) *rule {
	var best *rule
	for i := range rs {
		r := &rs[i]
		if matches(r.pkg, pkg) && (best == nil || r.pkg == pkg || best.pkg != pkg && len(r.pkg) > len(best.pkg)) {
			best = r
		}
	}
	return best
}

func (r *rule) allows(pkg string) bool {
	for _, pattern := range r.imports {
		if matches(pattern, pkg) {
			return true
		}
	}
	return false
}

// matches reports whether pattern names pkg: itself, "x/..." for x and all below
// it, or "..." for all.
func matches(pattern, pkg string) bool {
	if pattern == "..." {
		return true
	}
	if prefix, ok := strings.CutSuffix(pattern, "/..."); ok {
		return pkg == prefix || strings.HasPrefix(pkg, prefix+"/")
	}
	return pattern == pkg
}

// check returns one sentence per import that the rules forbid, in order. pkg and
// imports are paths relative to the module.
func (rs rules) check(pkg string, imports, testImports []string) []string {
	r := find(rs.code, pkg)
	if r == nil {
		return []string{fmt.Sprintf("no rule covers package %s: add one, with its reason, to internal/deps/rules.txt", pkg)}
	}
	var bad []string
	for _, imp := range imports {
		if !r.allows(imp) {
			bad = append(bad, fmt.Sprintf("%s imports %s; it may import %s, for: %s", pkg, imp, list(r.imports), r.reason))
		}
	}
	extra := find(rs.tests, pkg)
	for _, imp := range testImports {
		// A test outside its package imports that package.
		if imp == pkg || r.allows(imp) || extra != nil && extra.allows(imp) {
			continue
		}
		bad = append(bad, fmt.Sprintf("a test of %s imports %s, which no rule of %s or of its tests allows", pkg, imp, pkg))
	}
	return bad
}

// unused returns one sentence per allowed import that no package of the rule uses, in order. uses has the imports of
// each package and of its tests.
func (rs rules) unused(uses map[string][]string) (found []string) {
	for _, part := range []struct {
		rules []rule
		name  string
	}{{rs.code, ""}, {rs.tests, " tests"}} {
		used := map[string]bool{} // by package of the rule and pattern
		for pkg, imports := range uses {
			r := find(part.rules, pkg)
			if r == nil {
				continue
			}
			for _, pattern := range r.imports {
				if slices.ContainsFunc(imports, func(imp string) bool { return matches(pattern, imp) }) {
					used[r.pkg+" "+pattern] = true
				}
			}
		}
		for _, r := range part.rules {
			for _, pattern := range r.imports {
				if !used[r.pkg+" "+pattern] {
					found = append(found, fmt.Sprintf("the rule of %s%s allows %s, which nothing imports: remove it", r.pkg, part.name, pattern))
				}
			}
		}
	}
	return found
}

func list(imports []string) string {
	if len(imports) == 0 {
		return "nothing of this module"
	}
	return "only " + strings.Join(imports, ", ")
}
