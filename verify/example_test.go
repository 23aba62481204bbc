package verify_test

import (
	"fmt"
	"log"

	"github.com/reprise-gpu/reprise/graphexec"
	"github.com/reprise-gpu/reprise/ir"
	"github.com/reprise-gpu/reprise/optimizer"
	"github.com/reprise-gpu/reprise/verify"
)

// Two fills of halves of a buffer may overlap, and the copy of the whole follows both.
const program = `graph halves {
  buffer @x f32[1024] device(0) output
  buffer @y f32[1024] device(0) output
  %0 = memset @x[0:2048] u32=1
  %1 = memset @x[2048:4096] u32=2
  %2 = copy @x -> @y at("halves.go":12)
}
`

func Example() {
	f, err := ir.Load("halves.rir", program)
	if err != nil {
		log.Fatal(err)
	}
	plan, err := optimizer.Plan(f.Graph, optimizer.Options{Strategy: "nimble"})
	if err != nil {
		log.Fatal(err)
	}
	proof, err := verify.Check(plan.Schedule, graphexec.Streams)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(proof.Operations, "operations, all conflicts ordered:", proof.OK())
	// Output: 3 operations, all conflicts ordered: true
}
