package main

import "testing"

// run checks its own result against the CPU.
func TestHeat(t *testing.T) {
	if err := run(); err != nil {
		t.Fatal(err)
	}
}
