package reprise_test

import (
	"errors"
	"fmt"

	"github.com/reprise-gpu/reprise"
)

// Programs test the kind of an error. Its text is for people.
func ExampleCompile_errors() {
	dev, err := reprise.Open("sim")
	check(err)
	defer dev.Close()
	t := reprise.Record(dev, "interest")
	interest(t, float32(0.01))
	trace, err := t.Finish()
	check(err)
	defer trace.Close()

	_, err = reprise.Compile(dev, trace, reprise.Options{Strategy: "nimbel"})
	switch {
	case errors.Is(err, reprise.ErrUnknown):
		fmt.Println("unknown:", err) // the text suggests the most similar name
	case errors.Is(err, reprise.ErrOutOfMemory):
		fmt.Println("too large:", err) // plan with Also: []string{"memplan"}, or use a smaller problem
	}
	// Output: unknown: compile: unknown strategy "nimbel" (did you mean "nimble"?); there are serial, roundrobin(k), levels(k), grcuda(policy), nimble(k), mincover, coloring(method), listsched(k), search(steps:k), auto
}
