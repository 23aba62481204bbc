// Package deps holds the rules that say which package may import which, and the
// test that reads them. The test fails with the reason of the rule that an import
// breaks, and for a package that no rule covers.
package deps
