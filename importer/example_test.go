package importer_test

import (
	"fmt"
	"log"

	"github.com/reprise-gpu/reprise/importer"
	"github.com/reprise-gpu/reprise/ir"
)

// ExampleRead reads a graph of four tasks in DOT.
func ExampleRead() {
	g, err := importer.Read("build.dot", `digraph build {
		parse -> check -> emit
		parse -> lint
		parse [cost="3us"]
	}`, importer.Options{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Print(ir.Print(g))
	// Output:
	// graph build {
	//   %0 = empty cost(3000ns) label("parse")
	//   %1 = empty after(%0) cost(0ns) label("check")
	//   %2 = empty after(%1) cost(0ns) label("emit")
	//   %3 = empty after(%0) cost(0ns) label("lint")
	// }
}
