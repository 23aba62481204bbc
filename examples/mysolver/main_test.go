package main

import "testing"

// run fails unless every mode converges.
func TestMySolver(t *testing.T) {
	if err := run(); err != nil {
		t.Fatal(err)
	}
}
