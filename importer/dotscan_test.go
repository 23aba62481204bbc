package importer_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/importer"
)

// TestNoWordIsReadAsTwo expects errors for words without quotes that DOT would end early, with the rest as another
// word.
func TestNoWordIsReadAsTwo(t *testing.T) {
	for _, word := range []string{
		"2e3", "2E3", "2e+3", "1.5e-3", "-2e3", ".5e1", "2.5.1", "1..2", "0x10", "2ns", "3us", "1_000", "10k", "2ä", "a.b", "a.5", "a-5", "2-3", "n-1", "2.-3", "-2-3",
	} {
		for _, src := range []string{
			"digraph { a [cost=" + word + "] }",
			"digraph {\n" + word + " -> b\n}",
			"digraph { a -> " + word + " }",
			"digraph " + word + " { a -> b }",
		} {
			_, err := importer.Read("x.dot", src, importer.Options{Format: "dot"})
			if assert.Error(t, err, src) {
				assert.Contains(t, err.Error(), "quotes", src)
			}
		}
	}
}

// TestWordsOfDOT reads numbers and names that are one word in DOT.
func TestWordsOfDOT(t *testing.T) {
	for _, word := range []string{"2", "-2", "2.", "2.5", ".5", "-.5", "0", "007", "a", "_a", "a1", "a_1", "ä", "aä1", `"2e3"`, `"a.b"`} {
		for _, src := range []string{"digraph { " + word + "->b }", "digraph { b->" + word + "}", "digraph { b->" + word + ";}", "digraph{b->" + word + "[color=red]}", "digraph { b -> " + word + "/* */}"} {
			_, err := importer.Read("x.dot", src, importer.Options{Format: "dot"})
			require.NoError(t, err, src)
		}
	}
}

// TestAttributesHaveValues expects errors for attributes without = and a value. In some cases the attribute is the
// rest of a cost.
func TestAttributesHaveValues(t *testing.T) {
	for _, list := range []string{"cost=2,3", "cost=2\ne3", "cost=2;5", "cost=2 us", "cost=2 .5", `cost="2" "3"`, "3,cost=2", "cost", "label", "bold", "bold,cost=2", "color=red bold"} {
		for _, src := range []string{"digraph { a [" + list + "]; a -> b }", "digraph { node [" + list + "] a }", "digraph { a -> b [" + list + "] }", "digraph { a [color=red] [" + list + "] }"} {
			_, err := importer.Read("x.dot", src, importer.Options{Format: "dot"})
			assert.ErrorContains(t, err, "= and the value of ", src)
		}
	}
	for _, list := range []string{"", "cost=2", "cost=2,color=red", "cost=2;color=red;", "cost=2 color=red", "cost=2\ncolor\n=\nred,", `cost="2" + "3"`} {
		_, err := importer.Read("x.dot", "digraph { a ["+list+"] }", importer.Options{Format: "dot"})
		assert.NoError(t, err, list)
	}
}
